#include <distrun/common/base/demangle.hpp>

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace distrun::base {

std::string demangled(const std::string& symbol) {
  return symbol.starts_with("_Z") ? demangled_type(symbol.c_str()) : symbol;
}

std::string demangled_type(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return text ? text.get() : name;
}

}  // namespace distrun::base

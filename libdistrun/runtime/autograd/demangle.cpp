#include <distrun/runtime/autograd/demangle.hpp>

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace distrun::autograd {

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 ? std::string(text.get()) : symbol;
}

}  // namespace distrun::autograd

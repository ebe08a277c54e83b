#pragma once
// Names of C++ as people write them.
#include <string>

namespace distrun::base {

// Of a symbol. Itself if it is no mangled name: a function of C may be called like the code of a type, as "f" is.
std::string demangled(const std::string& symbol);
// Of a type, as std::type_info::name() gives it.
std::string demangled_type(const char* name);

}  // namespace distrun::base

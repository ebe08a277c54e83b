#pragma once
// Demangles C++ names.
#include <string>

namespace distrun::base {

// Returns the name of a symbol; the symbol itself if not mangled (a C function may be named like a type code: "f").
std::string demangled(const std::string& symbol);
// Returns the name of a type; `name` comes from std::type_info::name().
std::string demangled_type(const char* name);

}  // namespace distrun::base

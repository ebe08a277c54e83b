#pragma once
// Formats function names for users.
#include <string>
#include <string_view>

namespace distrun::probe {

// Demangles a name, removes a symbol version ("read@@GLIBC_2.2.5"), shortens the longest names of the standard library
// ("std::string"), and cuts names that are too long to read. Leaves names that are not mangled unchanged.
std::string readable_name(const char* linkage_name);
std::string readable_text(std::string name);

// Returns whether the file belongs to libc: tests wait in it, but it is never the reason.
bool is_runtime_library(std::string_view path);

}  // namespace distrun::probe

#pragma once
// Names of functions as people write them.
#include <string>
#include <string_view>

namespace distrun::probe {

// Demangled, without the version of a symbol ("read@@GLIBC_2.2.5"), with the longest names of the standard library in
// short ("std::string"), and cut where a name is too long to be read. What is not mangled stays as it is.
std::string readable_name(const char* linkage_name);
std::string readable_text(std::string name);

// libc and what belongs to it: what a test calls to wait, and never the reason for it.
bool is_runtime_library(std::string_view path);

}  // namespace distrun::probe

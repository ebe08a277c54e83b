#pragma once
// Plugins that are built with the address or the leak sanitizer, in a distrun that is not. The sanitizer's runtime must
// be in a process before anything else, and distrun-rank does not have it; so distrun-rank starts itself again with it.
#include <string>
#include <vector>

namespace distrun::rank {

// If `plugin` wants such a runtime that is not here, becomes distrun-rank with the same arguments and that runtime
// preloaded. Before anything is opened; a process that has been through this once is left as it is, with the variables
// that it had. Does nothing about a file that is no plugin: whoever loads it says why.
void preload_sanitizer(const char* plugin, char** arguments);

// The shared objects that an ELF file of this machine names as needed; none if it is no such file. Never throws.
std::vector<std::string> needed_libraries(const char* path);

}  // namespace distrun::rank

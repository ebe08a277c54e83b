#pragma once
// Finds from its first bytes why a file is not a plugin. The loader's errors mislead: "No such file" for a plugin for
// another processor, "invalid ELF header" for a source file.
#include <string>

namespace distrun::rank {

// Throws Error{InvalidArgument, "PluginError"} for a file that cannot be loaded: a directory, a FIFO, a source, a
// script, a library for another processor. Leaves missing files to the loader. Never blocks: a FIFO is not opened.
void check_plugin_file(const std::string& path);

// Throws Error{InvalidArgument, "PluginError"} with the path and the reason.
[[noreturn]] void refuse_plugin(const std::string& path, const std::string& why);

// Returns the loader's last error, with demangled C++ names and advice.
std::string why_not_loaded();

}  // namespace distrun::rank

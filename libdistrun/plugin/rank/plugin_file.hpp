#pragma once
// What is wrong with a file that is no plugin, as its first bytes tell it: the loader says "No such file" of a plugin
// for another processor, and "invalid ELF header" of a source file.
#include <string>

namespace distrun::rank {

// Throws Error{InvalidArgument, "PluginError"} for what cannot be loaded: a directory, a FIFO, a source, a script, a
// library of another processor. What is not there is the loader's to tell. Never waits: a FIFO is not opened.
void check_plugin_file(const std::string& path);

// Throws Error{InvalidArgument, "PluginError"}: the path, and why it cannot be used.
[[noreturn]] void refuse_plugin(const std::string& path, const std::string& why);

// The loader's last error: with the names of C++ as people write them, and with what to do.
std::string why_not_loaded();

}  // namespace distrun::rank

#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "command_info.hpp"

namespace distrun::cli {

// What --help prints: options under their headings, wrapped at 100 columns.
std::string help_text(const CommandInfo& command);

// "distrun list [OPTIONS] [PLUGIN.so...]"
std::string usage_line(const CommandInfo& command);
// "-w, --world-size N"; of an argument that is known by its place "PLUGIN.so..."
std::string signature_of(const OptionInfo& option);
// The description, with the default where there is one.
std::string description_of(const OptionInfo& option);
// The headings in the order in which they first come.
std::vector<std::string> groups_of(const CommandInfo& command);

}  // namespace distrun::cli

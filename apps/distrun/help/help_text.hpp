#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "command_info.hpp"

namespace distrun::cli {

// Returns the output of --help: options under their headings, wrapped at 100 columns.
std::string help_text(const CommandInfo& command);

// Returns "distrun list [OPTIONS] [PLUGIN.so...]".
std::string usage_line(const CommandInfo& command);
// Returns "-w, --world-size N", or "PLUGIN.so..." for a positional argument.
std::string signature_of(const OptionInfo& option);
// Returns the description, with the default if there is one.
std::string description_of(const OptionInfo& option);
// Returns the headings in order of first use.
std::vector<std::string> groups_of(const CommandInfo& command);

}  // namespace distrun::cli

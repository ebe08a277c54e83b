#pragma once
// Parses the command line into plain structs. Flags are defined where each command is parsed (parsing.hpp).
#include <string>
#include <vector>

#include "help/command_info.hpp"
#include "options.hpp"

namespace distrun::cli {

// Prints help itself. Throws Error{InvalidArgument} for a usage error, with a text for the user.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

// Describes all commands except those for scripts; the first one is `run`.
std::vector<CommandInfo> describe_commands();

}  // namespace distrun::cli

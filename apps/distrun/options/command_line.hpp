#pragma once
// The command line, read into plain structs. The flags of each command are where that is parsed (parsing.hpp).
#include <string>
#include <vector>

#include "help/command_info.hpp"
#include "options.hpp"

namespace distrun::cli {

// Prints help itself. Throws Error{InvalidArgument} for a usage error, with a text for the user.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

// What each command takes: the first one is `run`; those that are for scripts alone are left out.
std::vector<CommandInfo> describe_commands();

}  // namespace distrun::cli

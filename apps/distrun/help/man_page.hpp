#pragma once
#include <string>
#include <vector>

#include "command_info.hpp"

namespace distrun::cli {

// Returns distrun(1) in man macros, from the commands' descriptions and help notes. The first command is `run`.
std::string man_page(const std::vector<CommandInfo>& commands, const std::string& version);

}  // namespace distrun::cli

#pragma once
#include <string>
#include <vector>

#include "command_info.hpp"

namespace distrun::cli {

// distrun(1) in man's macros, from what the commands take and the notes of their help. The first command is `run`.
std::string man_page(const std::vector<CommandInfo>& commands, const std::string& version);

}  // namespace distrun::cli

#pragma once
// Formats lines on standard output that GitHub Actions obeys: "::error file=a.cpp,line=4::text". Text may be any bytes:
// it cannot end the line, a property or the command.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace distrun::report {

// Omits properties without a value. Ends in a newline.
std::string github_command(std::string_view name,
                           const std::vector<std::pair<std::string_view, std::string>>& properties,
                           std::string_view text);

// The first line makes GitHub ignore commands in the output until the second: output of tests is data that may contain
// commands. `token` must be one that no test can guess.
std::string github_stop_commands(std::string_view token);
std::string github_resume_commands(std::string_view token);

}  // namespace distrun::report

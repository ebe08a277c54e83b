#pragma once
#include <string>

namespace distrun::cli {

// Returns the file that a shell would execute for this name: the name itself if it has a slash, else the first match in
// PATH. Throws Error{Failed} that says what is wrong: missing, a directory, not executable.
std::string find_program(const std::string& name);

}  // namespace distrun::cli

#pragma once
#include <string>

namespace distrun::cli {

// Returns the file that a shell would execute for this name here. Throws as proc::find_program() does.
std::string find_program(const std::string& name);

}  // namespace distrun::cli

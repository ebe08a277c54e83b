#pragma once
#include <string>

namespace distrun::cli {

// The file that a shell would run for this name: itself if it has a slash, else the first in PATH. Throws Error{Failed}
// that says what is wrong: it is not there, is a directory, must not be run.
std::string find_program(const std::string& name);

}  // namespace distrun::cli

#pragma once
// Finds the programs of distrun, which are in one folder.
#include <string>

namespace distrun::proc {

// Returns the path of a program beside the running one. Throws Error{Failed} if it does not exist.
std::string program_beside(const std::string& name);

}  // namespace distrun::proc

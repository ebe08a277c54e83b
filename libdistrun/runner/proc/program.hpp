#pragma once
// Where the programs of distrun are: side by side, in one folder.
#include <string>

namespace distrun::proc {

// The path of one of them, beside the one that runs. Throws Error{Failed} if it is not there.
std::string program_beside(const std::string& name);

}  // namespace distrun::proc

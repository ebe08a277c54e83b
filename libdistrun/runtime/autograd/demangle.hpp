#pragma once
// Names of C++ as people write them.
#include <string>

namespace distrun::autograd {

// The symbol itself if it is no mangled name.
std::string demangled(const std::string& symbol);

}  // namespace distrun::autograd

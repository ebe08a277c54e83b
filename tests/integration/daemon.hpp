#pragma once
// The daemon under test. The build says where it is.
#include <string>

#include "programs.hpp"
#include "support/daemon.hpp"

namespace distrun::testing {

inline std::string daemon_program() { return DISTRUND_BIN; }

}  // namespace distrun::testing

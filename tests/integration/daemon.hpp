#pragma once
// The path of the daemon under test, set by the build.
#include <string>

#include "programs.hpp"
#include "support/daemon.hpp"

namespace distrun::testing {

inline std::string daemon_program() { return DISTRUND_BIN; }

}  // namespace distrun::testing

#pragma once
// What distrund does with its options. Each returns an exit code and throws Error for what it cannot do.
#include "options.hpp"

namespace distrun::daemon {

enum ExitCode : int {
  kEnded = 0,        // as it was told
  kUsage = 2,        // the command line makes no sense
  kCannotServe = 3,  // a daemon is there already, no socket, or for --status: no daemon
};

int serve(const Options& options);
int show_status(const Options& options);

}  // namespace distrun::daemon

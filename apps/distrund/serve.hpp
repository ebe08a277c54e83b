#pragma once
// distrund's actions. Each returns an exit code and throws Error on failure.
#include "options.hpp"

namespace distrun::daemon {

enum ExitCode : int {
  kEnded = 0,        // normal end
  kUsage = 2,        // invalid command line
  kCannotServe = 3,  // a daemon is running already, no socket, or for --status: no daemon
};

int serve(const Options& options);
int show_status(const Options& options);

}  // namespace distrun::daemon

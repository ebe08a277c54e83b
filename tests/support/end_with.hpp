#pragma once
// Children that never outlive their test: one that did would keep the test's output open, and its folder in use.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace distrun::testing {

// Called in a forked child: it ends when the thread that forked it ends, or at once if that is over already. `parent`
// is the process that forked it.
inline void end_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(4);
}

}  // namespace distrun::testing

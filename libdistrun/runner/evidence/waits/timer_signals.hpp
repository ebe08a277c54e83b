#pragma once
// Whether a process may be interrupted by a timer of its own, which could end any of its waits.
#include <sys/types.h>

namespace distrun::evidence {

// Returns true if the process catches SIGALRM, SIGVTALRM or SIGPROF (interval timers themselves are not visible), or
// has POSIX timers; also if that cannot be read. Never blocks.
bool may_be_interrupted_by_timer(pid_t pid);

}  // namespace distrun::evidence

#pragma once
// Releases children that have made this process their tracer by PTRACE_TRACEME, as a test may do. Such a thread stops
// at each signal until its tracer continues it, so it would neither crash nor end when signalled; and its process
// cannot be reaped before all its ended threads are. This process does not want to trace, so it detaches.
//
// Call only on the thread that is their parent.
#include <sys/types.h>

namespace distrun::proc {

// Continues stopped tracees, untraced and with the signal that they were about to receive, and reaps ended threads.
// Call after each SIGCHLD: two system calls if no tracee has stopped. Does not block.
void let_stopped_tracees_go();

// Releases running threads of a child, by stopping them first. Blocks for some milliseconds if any is traced.
void let_tracees_go(pid_t pid);

// Reaps the killed child to which `pidfd` refers. Gives up after a second: it is in state D or traced.
void reap_killed(pid_t pid, int pidfd);

}  // namespace distrun::proc

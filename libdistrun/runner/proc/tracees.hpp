#pragma once
// Children that have made this process their tracer, with PTRACE_TRACEME, as a test may do. Such a thread stands still
// at each signal until its tracer lets it go on, so it would neither crash nor end when it is told to; and while one of
// them that has ended is not reaped, neither is its process. Nobody here wants to trace: they are let go.
//
// By the thread that is their parent only.
#include <sys/types.h>

namespace distrun::proc {

// Those that stand still go on, untraced and with the signal that they were about to get; threads that have ended are
// reaped. To be called after each SIGCHLD: two system calls if there are none. Does not block.
void let_stopped_tracees_go();

// The same for threads of a child that run: they are stopped for it. Blocks for some milliseconds at most, and only if
// there are any.
void let_tracees_go(pid_t pid);

// Reaps a child that was killed, for which `pidfd` stands. Gives up after a second: on one in state D, and on one that
// somebody else traces.
void reap_killed(pid_t pid, int pidfd);

}  // namespace distrun::proc

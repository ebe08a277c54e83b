#pragma once
// What a process itself may do to its waits from outside of its threads' code: timers, and handlers of signals.
#include <sys/types.h>

#include <distrun/common/wire/stacks.hpp>

namespace distrun::evidence {

struct Wakers {
  bool timers = false;    // POSIX timers, or it catches SIGALRM, SIGVTALRM or SIGPROF: interval timers are not visible
  bool handlers = false;  // it catches signals that mean an event: SIGUSR1, SIGUSR2, SIGIO, SIGURG, of a child SIGCHLD
  bool stops = false;     // it catches signals that ask it to end: SIGHUP, SIGINT, SIGQUIT, SIGTERM
};

// What cannot be read counts as caught. Never blocks.
Wakers wakers_of(pid_t pid);

// Returns whether they may end a wait for this. A timer may interrupt anything; a handler may post a semaphore or
// interrupt a call, but can hardly release a lock; and who waits to be asked to end waits for a notification.
bool may_end(const Wakers& wakers, wire::WaitObject object) noexcept;

}  // namespace distrun::evidence

#pragma once
// What a stop does to the system call that a thread sleeps in. The kernel begins most calls again by itself, and the
// program notices nothing. Some end with EINTR: those can be begun again when the thread goes on. But if the call has
// a time limit it would begin anew as well, and a call that has moved some bytes already returns how many: a thread in
// one of these must not be stopped at all.
#include <sys/types.h>

#include <optional>

#include <distrun/runner/evidence/proc/syscalls.hpp>

namespace distrun::probe {

// What the number and the arguments of a call don't say of the descriptor that it waits on.
struct WaitedOn {
  bool pipe = false;
  bool socket = false;
  bool receive_limit = false;  // SO_RCVTIMEO is set
  bool send_limit = false;     // SO_SNDTIMEO is set
};

// Whether the call, as somebody sleeps in it, would return otherwise for a stop, even if it can be begun again.
bool shows_a_stop(const evidence::SyscallText& call, const WaitedOn& on);
// Whether the call returns EINTR for nothing but signals, so that it can be begun again after a stop.
bool can_begin_again(long number);

// The call that the thread sleeps in, if it must not be stopped there. Nothing waits for the thread.
std::optional<evidence::SyscallText> call_to_be_left(pid_t pid, pid_t tid);

}  // namespace distrun::probe

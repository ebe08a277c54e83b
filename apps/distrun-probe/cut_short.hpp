#pragma once
// The effect of a stop on the system call that a thread sleeps in. The kernel restarts most calls transparently. Some
// end with EINTR; those can be restarted when the thread continues. But a restarted call would also restart its time
// limit, and a call that has already transferred bytes returns their number: do not stop a thread in such a call.
#include <sys/types.h>

#include <optional>

#include <distrun/runner/evidence/proc/syscalls.hpp>
#include <distrun/runner/evidence/proc/task_state.hpp>

namespace distrun::probe {

// Properties of the descriptor of a call that its number and arguments do not show.
struct WaitedOn {
  bool pipe = false;
  bool socket = false;
  bool receive_limit = false;  // SO_RCVTIMEO is set
  bool send_limit = false;     // SO_SNDTIMEO is set
};

// Returns whether a stop would change the call's result, even if the call is restarted.
bool shows_a_stop(const evidence::SyscallText& call, const WaitedOn& on);
// Returns whether the call returns EINTR only for signals, so that it can be restarted after a stop.
bool can_begin_again(long number);
// Returns whether the call ended at its time limit although it returned EINTR: io_getevents reports the stop
// instead. Restarted, it would wait for its time limit once more. `has_slept`: between the check and the stop.
bool ended_at_limit(const evidence::SyscallText& call, bool has_slept);

// Returns the call that the thread sleeps in. Does not stop the thread.
std::optional<evidence::SyscallText> sleeping_call(const evidence::Tasks& tasks, pid_t tid);
// Returns whether the thread, which sleeps in this call, must not be stopped there.
bool must_be_left(pid_t pid, pid_t tid, const evidence::SyscallText& call);

}  // namespace distrun::probe

#pragma once
// The kernel's view of threads, from /proc/PID/task. Any thread; nothing stops or waits for the process that is read,
// and what is hidden or gone is empty, or '?' for a state: it is never an error.
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/wire/stacks.hpp>
#include <distrun/runner/evidence/proc/syscalls.hpp>

namespace distrun::evidence {

// The main thread first, the others by number. Empty if there is no such process.
std::vector<pid_t> tasks_of(pid_t pid);
wire::TaskState read_task(pid_t pid, pid_t tid);

// The two of those that tell whether a thread does anything.
struct Pulse {
  std::uint8_t state = '?';
  std::uint64_t cpu_ns = 0;
};
Pulse read_pulse(pid_t pid, pid_t tid);
// How long the process's threads have been ready to run and had no CPU, since they began: that of the thread with the
// longest time. Zero if it is gone.
std::chrono::nanoseconds cpu_wait_of(pid_t pid);
// The system call that it is in, if it may be known.
std::optional<SyscallText> read_call(pid_t pid, pid_t tid);

// "distrun-rank"; empty if there is no such process.
std::string command_of(pid_t pid);
// The process that traces this one (a debugger, say); 0: none.
pid_t tracer_of(pid_t pid);
inline bool is_traced(pid_t pid) { return tracer_of(pid) != 0; }
// The user that the process runs for; -1 if it is gone.
std::int64_t user_of(pid_t pid);

}  // namespace distrun::evidence

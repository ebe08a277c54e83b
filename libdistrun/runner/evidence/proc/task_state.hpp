#pragma once
// The kernel's view of threads, from /proc/PID/task. Callable on any thread; never stops the process or waits for it. A
// hidden or missing value is empty, or '?' for a state, and never an error.
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/stacks.hpp>
#include <distrun/runner/evidence/proc/proc_files.hpp>
#include <distrun/runner/evidence/proc/syscalls.hpp>

namespace distrun::evidence {

// The threads of a process, for several reads: /proc/PID/task is opened once. After the end of the process there are
// none, even if another process gets its number.
class Tasks {
 public:
  explicit Tasks(pid_t pid);

  pid_t pid() const noexcept { return pid_; }
  // Returns the main thread first, then the others by number. Empty if there is no such process.
  std::vector<pid_t> ids() const;
  // Reads a thread's file that the kernel writes in one piece.
  ProcFile read(pid_t tid, std::string_view name) const;

 private:
  pid_t pid_;
  base::Fd directory_;
  int error_;  // of opening it
};

wire::TaskState read_task(const Tasks& tasks, pid_t tid);
// Returns only name and state: "?" and '?' if the thread has ended.
wire::TaskState read_name_and_state(const Tasks& tasks, pid_t tid);

inline std::vector<pid_t> tasks_of(pid_t pid) { return Tasks(pid).ids(); }
inline wire::TaskState read_task(pid_t pid, pid_t tid) { return read_task(Tasks(pid), tid); }

// Shows whether a thread is active.
struct Pulse {
  std::uint8_t state = '?';   // as in TaskState
  std::uint64_t cpu_ns = 0;   // CPU time used
  std::uint64_t kept_ns = 0;  // time that it was ready to run without getting a CPU
  std::uint64_t faults = 0;   // page faults
};
Pulse read_pulse(const Tasks& tasks, pid_t tid);
inline Pulse read_pulse(pid_t pid, pid_t tid) { return read_pulse(Tasks(pid), tid); }
// Returns only the CPU time used; 0 if it cannot be read.
std::uint64_t read_cpu_ns(const Tasks& tasks, pid_t tid);
inline std::uint64_t read_cpu_ns(pid_t pid, pid_t tid) { return read_cpu_ns(Tasks(pid), tid); }
// Returns how often the thread has given up its CPU to sleep, stops by a tracer included; -1 if it has ended.
std::int64_t sleeps_of(pid_t pid, pid_t tid);
// Returns how long a thread has been ready to run without getting a CPU since it started: the maximum over the
// process's threads. Zero if the process has ended.
std::chrono::nanoseconds cpu_wait_of(pid_t pid);
// Returns how much CPU time all threads of the process have used. Zero if the process has ended.
std::chrono::nanoseconds cpu_time_of(pid_t pid);
// Returns the system call that the thread is in, if it can be read.
std::optional<SyscallText> read_call(const Tasks& tasks, pid_t tid);
inline std::optional<SyscallText> read_call(pid_t pid, pid_t tid) { return read_call(Tasks(pid), tid); }

// Returns the command name, such as "distrun-rank"; empty if there is no such process.
std::string command_of(pid_t pid);
// Returns the process that traces this one (such as a debugger); 0: none.
pid_t tracer_of(pid_t pid);
inline bool is_traced(pid_t pid) { return tracer_of(pid) != 0; }
// Returns whether the thread ids that the process knows may differ from ours: it is in a deeper pid namespace, or that
// cannot be read.
bool has_other_ids(pid_t pid);
// Returns the process that a thread belongs to; 0: there is no such thread.
pid_t process_of(pid_t tid);
// Returns the user that the process runs as; -1 if it has ended.
std::int64_t user_of(pid_t pid);

}  // namespace distrun::evidence

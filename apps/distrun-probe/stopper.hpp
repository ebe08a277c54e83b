#pragma once
// Stops threads of other processes by ptrace, all at once, and releases them. A thread that does not stop in time is
// left alone: nothing here waits beyond its deadline. Signals that arrive meanwhile are delivered at the release, and a
// thread that SIGSTOP has stopped stays stopped. Programs do not notice: a thread in a system call that would return a
// different result is not stopped, and a call that ends with EINTR is restarted (cut_short.hpp). One gap remains: a
// thread that enters such a call between the check and the stop; a large write may then be short. If the probe dies,
// the kernel releases all threads. Only one thing can block it: seizing a process in the middle of execve, until that
// is over.
//
// Main thread only, and one at a time: it reaps everything that waitpid reports, and blocks SIGCHLD for good.
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/runner/evidence/proc/syscalls.hpp>
#include <distrun/runner/evidence/proc/task_state.hpp>

namespace distrun::probe {

struct Tracee {
  enum class State : std::uint8_t {
    Asked,  // asked to stop, but has not stopped yet
    Stopped,
    Released,
    Gone,     // it has ended
    Refused,  // tracing is not permitted: see `error`
    Left,     // it sleeps in `call`, and would notice a stop, or must not be stopped
    Awake,    // it runs, and must not be stopped
  };
  pid_t pid = 0;
  pid_t tid = 0;
  State state = State::Asked;
  int error = 0;
  int signal = 0;  // to be delivered on release
  evidence::SyscallText call{};
  std::int64_t sleeps = -1;  // how often it had slept when it was asked to stop, if it was awake then
};

class Stopper {
 public:
  Stopper();
  ~Stopper() { release(); }
  Stopper(const Stopper&) = delete;
  Stopper& operator=(const Stopper&) = delete;

  // Stops every thread of these processes, including new ones, and waits for them until `deadline`. Returns earlier if
  // the remaining threads are in uninterruptible sleep (a parent in vfork, a read from a dead file server), so that the
  // others do not stay stopped for them.
  void stop_processes(const std::vector<pid_t>& pids, base::TimePoint deadline);
  // Stops single threads that were released before, and waits likewise.
  void stop_again(const std::vector<pid_t>& tids, base::TimePoint deadline);
  // Stops no thread: those that sleep in a system call are left there.
  void leave_processes(const std::vector<pid_t>& pids);
  // Waits for threads that have not stopped yet, in any state.
  void wait_until(base::TimePoint deadline);
  // Releases all threads that have stopped at any time.
  void release();

  // Returns whether a thread was asked to stop and has not done so yet.
  bool is_waiting() const noexcept { return waiting_ > 0; }
  // Returns whether one of these is ready to run, but has no CPU to stop on.
  bool awaits_cpu() const;
  // Keyed by thread id.
  const std::map<pid_t, Tracee>& tracees() const noexcept { return tracees_; }

 private:
  void ask(const evidence::Tasks& tasks, pid_t tid);
  int ask_new_threads(pid_t pid);
  bool wait_while_worth_it(base::TimePoint deadline);
  bool all_left_sleep_deeply() const;
  void take_reports();
  void take_report(pid_t tid, int status);

  std::map<pid_t, Tracee> tracees_;
  int waiting_ = 0;  // number of threads in state Asked
};

}  // namespace distrun::probe

#pragma once
// Stops threads of other processes by ptrace, all at once, and lets them go on. A thread that does not stop in time is
// left alone: nothing here waits beyond its deadline. Signals that arrive in between are delivered when the thread is
// released, and a thread that SIGSTOP has stopped stays stopped. Nobody notices: who sleeps in a system call that would
// return otherwise is left asleep, and what ends with EINTR is begun again (cut_short.hpp). One gap is left: a thread
// that begins to wait in such a call between the question and the stop; a large write may then come out short. If the
// probe dies, the kernel releases all of them. One thing can hold it up: asking a process that is in the middle of
// execve, until that is over.
//
// Main thread only, and one at a time: it reaps whatever waitpid reports, and blocks SIGCHLD for good.
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/runner/evidence/proc/syscalls.hpp>

namespace distrun::probe {

struct Tracee {
  enum class State : std::uint8_t {
    Asked,  // to stop; it has not yet
    Stopped,
    Released,
    Gone,     // it has ended
    Refused,  // it may not be traced: `error` says why
    Left,     // it sleeps in `call`, and would notice a stop
  };
  pid_t pid = 0;
  pid_t tid = 0;
  State state = State::Asked;
  int error = 0;
  int signal = 0;  // to be delivered on release
  evidence::SyscallText call{};
};

class Stopper {
 public:
  Stopper();
  ~Stopper() { release(); }
  Stopper(const Stopper&) = delete;
  Stopper& operator=(const Stopper&) = delete;

  // Asks every thread of these processes to stop, those that start meanwhile too, and waits for them until `deadline`.
  // Returns earlier if those that are left sleep so that nothing wakes them (a parent in vfork, a read from a dead
  // file server): the others need not stand still for them.
  void stop_processes(const std::vector<pid_t>& pids, base::TimePoint deadline);
  // The same for single threads that were released before.
  void stop_again(const std::vector<pid_t>& tids, base::TimePoint deadline);
  // Waits for those that have not stopped yet, whatever they do.
  void wait_until(base::TimePoint deadline);
  // Lets all go on that have stopped, whenever that was.
  void release();

  // By thread id.
  const std::map<pid_t, Tracee>& tracees() const noexcept { return tracees_; }

 private:
  void ask(pid_t pid, pid_t tid);
  int ask_new_threads(pid_t pid);
  bool wait_while_worth_it(base::TimePoint deadline);
  bool all_left_sleep_deeply() const;
  void take_reports();
  void take_report(pid_t tid, int status);

  std::map<pid_t, Tracee> tracees_;
  int waiting_ = 0;  // how many are Asked
};

}  // namespace distrun::probe

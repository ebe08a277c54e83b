#pragma once
// The process of a run started by the daemon: a distrun, with the run's guard as its first process. It leads a separate
// session, and the kernel signals it to end when the daemon dies. Lives on: the daemon's loop.
#include <functional>
#include <memory>

#include <distrun/common/io/fd_watch.hpp>
#include <distrun/runner/proc/child.hpp>
#include <distrun/runner/proc/exit_status.hpp>

namespace distrun::daemon {

class RunProcess {
 public:
  struct Handlers {
    std::function<void()> on_over;                   // it has reported that its tests are over
    std::function<void(proc::ExitStatus)> on_ended;  // once, when it is reaped; may destroy this
  };

  // Starts the process; adds the line, kPlaceDescriptor, to `spec`. Throws Error{Failed} if it cannot be started.
  RunProcess(io::Loop& loop, proc::ChildSpec spec, Handlers handlers);
  RunProcess(const RunProcess&) = delete;
  RunProcess& operator=(const RunProcess&) = delete;

  pid_t pid() const noexcept { return pid_; }
  // Sends a signal as a terminal would: what ends or queries a run goes to its guard; stop, continue and resize go to
  // its whole group.
  void signal(int number);
  // Ends it: politely, then urgently, then by force, at intervals of 5 s. Another call takes the next step at once.
  void end();

 private:
  void on_death();
  void on_word();
  void kill_coordinator();

  pid_t pid_ = 0;
  int urgency_ = 0;  // of end()
  Handlers handlers_;
  io::Alarm patience_;
  std::unique_ptr<io::FdWatch> line_;
  std::unique_ptr<io::FdWatch> death_;
};

}  // namespace distrun::daemon

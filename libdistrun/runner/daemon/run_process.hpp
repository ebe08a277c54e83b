#pragma once
// The process of a run that the daemon has started: a distrun, whose first process is the run's guard. It leads a
// session of its own, and the kernel tells it to end when the daemon dies. Lives on: the daemon's loop.
#include <functional>
#include <memory>

#include <distrun/common/io/fd_watch.hpp>
#include <distrun/runner/proc/child.hpp>
#include <distrun/runner/proc/exit_status.hpp>

namespace distrun::daemon {

class RunProcess {
 public:
  struct Handlers {
    std::function<void()> on_over;                   // its tests are over: it has said so on its line
    std::function<void(proc::ExitStatus)> on_ended;  // once, when it is reaped; may destroy this
  };

  // Starts it; `spec` gets the line, kPlaceDescriptor. Throws Error{Failed} if it cannot be started.
  RunProcess(io::Loop& loop, proc::ChildSpec spec, Handlers handlers);
  RunProcess(const RunProcess&) = delete;
  RunProcess& operator=(const RunProcess&) = delete;

  pid_t pid() const noexcept { return pid_; }
  // As a terminal would send it: what ends a run or asks it something goes to its guard, what stops and resizes goes to
  // the whole group.
  void signal(int number);
  // Ends it: politely, then in a hurry, then by force, with 5 s between. Called again it goes on to the next at once.
  void end();

 private:
  void on_death();
  void on_word();
  void kill_coordinator();

  pid_t pid_ = 0;
  int urgency_ = 0;  // of end()
  Handlers handlers_;
  io::Loop& loop_;
  io::Alarm patience_;
  std::unique_ptr<io::FdWatch> line_;
  std::unique_ptr<io::FdWatch> death_;
};

}  // namespace distrun::daemon

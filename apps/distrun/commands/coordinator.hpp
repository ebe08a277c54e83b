#pragma once
// Parts shared by `run` and `list`: a loop, this machine as a node, signals, and a watch on the guard.
#include <boost/asio/signal_set.hpp>

#include <functional>
#include <memory>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/attempt/attempt.hpp>
#include <distrun/runner/launch/local_node.hpp>
#include <distrun/runner/proc/guard.hpp>

#include "terminal/keys.hpp"

namespace distrun::cli {

// Returns what this machine needs to run ranks. Raises the limit of open files, which ranks get back.
launch::LocalNodeOptions node_options(const proc::RunPlaces& places);

class CoordinatorLoop {
 public:
  CoordinatorLoop(proc::Coordinator coordinator, const proc::RunPlaces& places);
  ~CoordinatorLoop();

  io::Loop& loop() noexcept { return loop_; }
  launch::Node& node() noexcept { return *node_; }
  // Calls `on_stop` when the user or the guard's death ends the run; the second signal hurries.
  void on_stop(std::function<void(runner::Urgency)> on_stop) { on_stop_ = std::move(on_stop); }
  // Calls `on_snapshot` on Ctrl-\ or the key s; `on_pause` and `on_resume` before and after a stop by Ctrl-Z.
  void on_snapshot(std::function<void()> on_snapshot) { on_snapshot_ = std::move(on_snapshot); }
  void on_pause(std::function<void()> on_pause, std::function<void()> on_resume) {
    on_pause_ = std::move(on_pause);
    on_resume_ = std::move(on_resume);
  }
  // Used for a run of the daemon: Ctrl-Z pauses ranks and clocks, but this process keeps running, since no shell waits
  // for it to stop, and it must notice when the daemon dies.
  void stand_by_when_stopped();
  // Passes SIGUSR1 and SIGUSR2 to `on_user_signal` from now on. Otherwise they are ignored.
  void on_user_signal(std::function<void(int)> on_user_signal);
  // Acts like Ctrl-C; the second call hurries.
  void interrupt() { on_end_signal(); }
  // Handles keys of the terminal from now on.
  void listen_to_keys();
  // Runs `task` to its end. Rethrows its exception.
  void run(io::Task<void> task);

 private:
  void wait_for_signal();
  void on_signal(int signal);
  void on_end_signal();
  void on_stop_signal();
  void go_on_if_stopped();
  void stop(runner::Urgency urgency);
  void look_at_guard();

  io::Loop loop_;
  boost::asio::signal_set signals_;
  std::unique_ptr<io::FdWatch> guard_;
  io::Alarm guard_look_;
  int guard_stopped_ = 0;  // in this many consecutive checks
  std::unique_ptr<launch::Node> node_;
  std::function<void(runner::Urgency)> on_stop_;
  std::function<void()> on_snapshot_ = [] {};
  std::function<void(int)> on_user_signal_;
  std::function<void()> on_pause_ = [] {};
  std::function<void()> on_resume_ = [] {};
  std::unique_ptr<Keys> keys_;
  base::TimePoint first_signal_{};
  bool stopping_ = false;
  bool stands_by_ = false;
  bool stopped_ = false;  // and standing by
};

}  // namespace distrun::cli

#pragma once
// What `run` and `list` share: a loop, this machine as a node, signals, and a look at the guard.
#include <boost/asio/signal_set.hpp>

#include <functional>
#include <memory>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/attempt/attempt.hpp>
#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/proc/guard.hpp>

#include "terminal/keys.hpp"

namespace distrun::cli {

class CoordinatorLoop {
 public:
  CoordinatorLoop(proc::Coordinator coordinator, const proc::RunPlaces& places);
  ~CoordinatorLoop();

  io::Loop& loop() noexcept { return loop_; }
  launch::Node& node() noexcept { return *node_; }
  // `on_stop` is called when the user or the guard's death ends the run; the second signal asks to hurry.
  void on_stop(std::function<void(runner::Urgency)> on_stop) { on_stop_ = std::move(on_stop); }
  // `on_look`: Ctrl-\ or the key s. `on_pause` and `on_resume`: around a stop by Ctrl-Z.
  void on_look(std::function<void()> on_look) { on_look_ = std::move(on_look); }
  void on_pause(std::function<void()> on_pause, std::function<void()> on_resume) {
    on_pause_ = std::move(on_pause);
    on_resume_ = std::move(on_resume);
  }
  // A run of the daemon's: on Ctrl-Z ranks and clocks stand still, but this process stays, since no shell waits for it
  // to stop, and it must notice when the daemon dies.
  void stand_by_when_stopped();
  // SIGUSR1 and SIGUSR2 go to `on_user_signal` from now on. Otherwise they are ignored.
  void on_user_signal(std::function<void(int)> on_user_signal);
  // As one Ctrl-C. Called again it hurries.
  void interrupt() { on_end_signal(); }
  // Keys of the terminal are heard from now on.
  void listen_to_keys();
  // Runs `task` to its end. Rethrows what it throws.
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
  int guard_stopped_ = 0;  // in so many looks, one after the other
  std::unique_ptr<launch::Node> node_;
  std::function<void(runner::Urgency)> on_stop_;
  std::function<void()> on_look_ = [] {};
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

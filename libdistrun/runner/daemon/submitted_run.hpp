#pragma once
// A run submitted by this client, from the queue to its end. Destroying it closes the connection, which cancels the
// run. Lives on: the client's loop.
#include <functional>
#include <string>

#include <distrun/common/io/frame_socket.hpp>
#include <distrun/common/wire/daemon.hpp>

namespace distrun::daemon {

class SubmittedRun {
 public:
  struct Handlers {
    std::function<void(int ahead)> on_waiting;  // its position has changed
    std::function<void()> on_started;
    // One of these is called once, as the last. They must not destroy this.
    std::function<void(const wire::RunEnded&)> on_ended;
    std::function<void(const std::string& why)> on_refused;
    std::function<void()> on_lost;  // the daemon is gone
  };

  // Passes standard output, standard error and the current directory to the daemon. Throws Error{Failed} if that fails.
  SubmittedRun(io::Loop& loop, base::Fd socket, const wire::Submission& order, Handlers handlers);

  void signal(int number);
  bool accepted() const noexcept { return !run_id_.empty(); }
  // Returns 0 until it has started.
  pid_t pid() const noexcept { return pid_; }

 private:
  void on_frame(const wire::Frame& frame);
  void take(const wire::Frame& frame);
  void on_closed();

  Handlers handlers_;
  std::string run_id_;
  pid_t pid_ = 0;
  bool over_ = false;
  io::FrameSocket socket_;
};

}  // namespace distrun::daemon

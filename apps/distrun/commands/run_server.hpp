#pragma once
// Lets `distrun ps`, `stacks` and `attach` look at a run, and `cancel` end it: an abstract Unix socket, so that no file
// is left, for this user and root alone. Lives on: the coordinator's loop.
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <distrun/common/io/frame_socket.hpp>
#include <distrun/runner/run/run.hpp>

namespace distrun::cli {

class RunServer {
 public:
  // `run` must outlive it. `on_cancel` ends it. Throws Error{Failed} if there can be no socket.
  RunServer(io::Loop& loop, runner::Run& run, const std::string& run_id, std::function<void()> on_cancel);

 private:
  void on_connection();
  void on_frame(int client, const wire::Frame& frame);
  void answer_stacks(int client, int rank);
  template <class T>
  void send(int client, wire::InspectFrame kind, const T& message);
  void drop(int client);

  io::Loop& loop_;
  runner::Run& run_;
  std::function<void()> on_cancel_;
  std::map<int, std::unique_ptr<io::FrameSocket>> clients_;  // by a number of their own
  int next_client_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for what comes later
  std::unique_ptr<io::FdWatch> listener_;
};

}  // namespace distrun::cli

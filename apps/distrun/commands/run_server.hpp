#pragma once
// Serves `distrun ps`, `stacks`, `doctor` and `attach`, which inspect a run, and `cancel`, which ends it: on an
// abstract Unix socket, which leaves no file behind, for this user and root only. Lives on: the coordinator's loop.
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <distrun/common/io/frame_socket.hpp>
#include <distrun/runner/run/run.hpp>

#include "run_examiner.hpp"

namespace distrun::cli {

class RunServer {
 public:
  // `run` must outlive it. `reach` says how users reach its hosts (reach.hpp); `on_cancel` ends the run. Throws
  // Error{Failed} if the socket cannot be created.
  RunServer(io::Loop& loop, runner::Run& run, const std::string& run_id, std::string reach,
            std::function<void()> on_cancel);

 private:
  void on_connection();
  void on_frame(int client, const wire::Frame& frame);
  void answer_status(int client);
  void answer_stacks(int client, int rank);
  void answer_examination(int client, bool with_json);
  template <class T>
  void send(int client, wire::InspectFrame kind, const T& message);
  void drop(int client);

  io::Loop& loop_;
  runner::Run& run_;
  std::string run_id_;
  std::string reach_;
  std::function<void()> on_cancel_;
  std::map<int, std::unique_ptr<io::FrameSocket>> clients_;  // by a sequence number
  std::map<int, std::shared_ptr<RunExaminer>> examiners_;    // by client; at work, or done and about to be removed
  int next_client_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // detects destruction in deferred calls
  std::unique_ptr<io::FdWatch> listener_;
};

}  // namespace distrun::cli

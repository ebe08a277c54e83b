#pragma once
// A process of an attempt's ranks: that of one rank, or of all ranks if they are threads.
//
//   empty -> made (descriptors exist) -> started (pid known) -> ended (reaped)
//
// Its connection may be lost before it ends. Lives on: the coordinator's loop.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <distrun/common/io/frame_socket.hpp>
#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/launch/output_pipe.hpp>
#include <distrun/runner/launch/wrapped_process.hpp>

namespace distrun::launch {

// The rank's ends of its descriptors, to be passed to it and closed here.
struct RankEnds {
  base::Fd control;
  base::Fd out;
  base::Fd err;
};

class RankProcess {
 public:
  struct Handlers {
    std::function<void(const wire::Frame& frame)> on_frame;
    // The connection is closed, or carries nonsense; not called after the end.
    std::function<void(const std::string& why)> on_lost;
    std::function<void(proc::ExitStatus status)> on_end;  // after the last frame
  };

  explicit RankProcess(io::Loop& loop) : loop_(loop) {}
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;

  // Creates the descriptors. Throws Error if there are not enough.
  RankEnds make(std::size_t output_cap);
  // `on_bytes` gets all output from now on.
  void follow_output(const std::function<void(Stream stream, std::string_view bytes)>& on_bytes);
  // The process exists and is our child.
  void adopt(pid_t pid) noexcept { pid_ = pid; }
  // The process is a command that starts the rank, or becomes it; see process_under().
  void wrap(std::vector<std::string> ending) { ending_ = std::move(ending); }
  // The process runs. Throws Error if it cannot be watched.
  void watch(Handlers handlers);
  // Ends a fresh process that cannot be watched.
  void end_unwatched();

  pid_t pid() const noexcept { return pid_; }
  // Returns the process of the rank itself, where a command has started it.
  pid_t inner_pid() const { return process_under(pid_, ending_); }
  bool is_alive() const noexcept { return pid_ != 0 && !ended_; }
  bool has_ended() const noexcept { return ended_; }
  bool is_connected() const noexcept { return socket_ && !ended_ && !socket_->closed(); }

  void send(wire::Bytes packed);
  // Asks the process's listener for stacks. Returns false if it cannot be asked.
  bool ask_for_stacks(int rank);
  // Signals the process and each process of its group once.
  void signal(int signal) const noexcept;
  // Signals the process alone.
  void signal_process(int signal) const noexcept;
  // Kills the process and its group, if it lives. Does not reap it.
  void kill() const noexcept;

  // The output read so far; empty before there are descriptors.
  proc::Captured output(Stream stream) const;
  void finish_output();
  void hold_output(bool hold);
  void forget_output();

 private:
  void on_death();

  io::Loop& loop_;
  Handlers handlers_;
  pid_t pid_ = 0;
  std::vector<std::string> ending_;
  bool ended_ = false;
  base::Fd connection_;                      // until the process is started
  std::unique_ptr<io::FrameSocket> socket_;  // from then on
  std::unique_ptr<OutputPipe> out_;
  std::unique_ptr<OutputPipe> err_;
  std::unique_ptr<io::FdWatch> death_;
};

}  // namespace distrun::launch

#pragma once
// A zygote as the coordinator sees it. Lives on: its loop.
//
//   loading --ready--> idle <--answer-- forking        any --its process ends--> dead
//             `--error, unsafe--> dead
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/io/one_shot.hpp>
#include <distrun/io/packet_socket.hpp>
#include <distrun/launch/helper_process.hpp>
#include <distrun/wire/zygote.hpp>

namespace distrun::launch {

class ZygoteHandle {
 public:
  // The answer to a fork request; empty if the zygote died first.
  using OnForked = std::function<void(std::optional<wire::ForkAnswer>)>;

  ZygoteHandle(io::Loop& loop, const std::string& rank_program, std::vector<std::string> environment,
               const std::string& plugin);

  // Completes when the plugin is loaded: the reason why it must not be forked, empty if it may. Throws
  // Error with the plugin's name if loading failed, ended or ran past `bound`. Once.
  io::Task<std::string> ready(base::Nanoseconds bound);
  bool usable() const noexcept { return usable_ && !process_->ended() && !socket_->closed(); }
  // Descriptors: control, stdout, stderr of each rank. Answers come in the order of requests.
  void fork(const wire::ForkOrder& order, const std::vector<int>& fds, OnForked on_forked);
  void kill() noexcept { process_->kill(); }
  pid_t pid() const noexcept { return process_->pid(); }
  std::string last_words() const { return process_->last_words(); }

 private:
  void on_packet(const wire::Packet& packet);
  void on_end();
  std::string describe_end() const;

  io::Loop& loop_;
  std::string plugin_;
  bool usable_ = false;
  bool timed_out_ = false;
  std::optional<proc::ExitStatus> status_;
  io::OneShot<wire::ZygoteReady> ready_;
  std::deque<OnForked> waiting_;
  std::unique_ptr<HelperProcess> process_;
  std::unique_ptr<io::PacketSocket> socket_;
};

}  // namespace distrun::launch

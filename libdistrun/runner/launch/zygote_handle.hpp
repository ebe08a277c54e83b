#pragma once
// A zygote as the coordinator sees it. Lives on: its loop.
//
//   loading --ready--> idle <--answer-- forking        any --its process ends--> dead
//             `--error, unsafe--> dead
//   loading or forking --it does not answer--> looking --its stacks are read--> killed
//   loading --it crashes--> looking --the crash is named--> dead
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/board/shared_dump.hpp>
#include <distrun/common/io/one_shot.hpp>
#include <distrun/common/io/packet_socket.hpp>
#include <distrun/common/wire/zygote.hpp>
#include <distrun/runner/launch/helper_process.hpp>
#include <distrun/runner/launch/helper_stacks.hpp>

namespace distrun::launch {

class ZygoteHandle {
 public:
  // Takes the answer to a fork request; without one, the reason: the zygote died, or did not answer in time.
  using OnForked = std::function<void(std::optional<wire::ForkAnswer>, const std::string& why_not)>;

  // `probe` reads its stacks when it does not answer.
  ZygoteHandle(io::Loop& loop, const std::string& rank_program, Probe::Program probe,
               std::vector<std::string> environment, const std::string& plugin);

  // Completes when the plugin is loaded. Returns the reason why it must not be forked, or empty. Throws Error with the
  // plugin's name if loading failed, ended or exceeded `bound`. Call once.
  io::Task<std::string> ready(base::Nanoseconds bound);
  // A zygote that does not answer a request within `bound` becomes unusable and ends.
  void bound_answers(base::Nanoseconds bound) noexcept { answer_bound_ = bound; }
  bool is_stuck() const noexcept { return !stuck_.empty(); }
  bool usable() const noexcept { return usable_ && !process_->ended() && !socket_->closed(); }
  // `fds`: control, stdout and stderr of each rank. Answers come in the order of requests.
  void fork(const wire::ForkOrder& order, const std::vector<int>& fds, OnForked on_forked);
  void kill() noexcept { process_->kill(); }
  pid_t pid() const noexcept { return process_->pid(); }
  // Returns whether it is the zygote's process, or that of a probe reading it.
  bool owns(pid_t pid) const noexcept {
    return process_->pid() == pid || (helper_stacks_ && helper_stacks_->owns(pid));
  }
  std::string last_words() const { return process_->last_words(); }

 private:
  void on_packet(const wire::Packet& packet);
  void on_end();
  void fail_loading(const std::optional<board::Dump>& dump, const std::string& stacks);
  std::string describe_end(const std::optional<board::Dump>& dump) const;
  void bound_next_answer();
  void on_silence();
  void look_and_kill();

  io::Loop& loop_;
  std::string plugin_;
  Probe::Program probe_;
  bool usable_ = false;
  bool timed_out_ = false;
  base::Nanoseconds answer_bound_ = std::chrono::seconds(10);
  std::string stuck_;   // what it failed to do; empty: nothing
  std::string stacks_;  // its stacks at that time
  std::optional<proc::ExitStatus> status_;
  const board::SharedDump crash_;
  io::OneShot<wire::ZygoteReady> ready_;
  std::deque<OnForked> waiting_;
  std::unique_ptr<HelperProcess> process_;
  std::unique_ptr<io::PacketSocket> socket_;
  std::unique_ptr<HelperStacks> helper_stacks_;
  io::Alarm alarm_;  // for the next answer
};

}  // namespace distrun::launch

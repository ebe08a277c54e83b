#pragma once
// --debug RANK: gdb in the foreground, on that rank of each attempt. gdb owns the terminal while it runs, so that
// Ctrl-C reaches only gdb and its program. Lives on: the coordinator's loop.
#include <functional>
#include <memory>
#include <string>

#include <distrun/common/io/fd_watch.hpp>
#include <distrun/common/io/one_shot.hpp>
#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/proc/child.hpp>
#include <distrun/runner/record/silent_sink.hpp>

namespace distrun::cli {

class Debugger final : public runner::SilentSink {
 public:
  // Throws Error{Failed} if there is no gdb.
  Debugger(io::Loop& loop, launch::Node& node, int rank);
  // Called when gdb has ended.
  void on_ended(std::function<void()> on_ended) { on_ended_ = std::move(on_ended); }
  // Call it once: completes when gdb has ended, or at once if none was started.
  io::Task<void> ended();

  void on_rank_start(const std::string& id, int attempt, const runner::RankRecord& rank) override;
  // The rank waits for a debugger in the rendezvous; a debugger started earlier could have ended by then.
  void on_rank_phase(const std::string& id, int attempt, int rank, wire::Phase phase) override;

 private:
  void on_death();

  io::Loop& loop_;
  launch::Node& node_;
  int rank_;
  std::string program_;
  pid_t rank_pid_ = 0;
  pid_t pid_ = 0;  // of gdb
  std::unique_ptr<io::FdWatch> death_;
  std::function<void()> on_ended_ = [] {};
  io::OneShot<bool> over_;
};

}  // namespace distrun::cli

#pragma once
// --debug RANK: gdb in the foreground, on that rank of each attempt. gdb owns the terminal while it runs, so that
// Ctrl-C reaches only gdb and its program. If the rank runs on another host, gdb runs there, started as by `distrun
// attach` (commands/reach.hpp). Lives on: the coordinator's loop.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/io/fd_watch.hpp>
#include <distrun/common/io/one_shot.hpp>
#include <distrun/common/wire/inspect.hpp>
#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/proc/child.hpp>
#include <distrun/runner/record/silent_sink.hpp>

namespace distrun::cli {

class Debugger final : public runner::SilentSink {
 public:
  // `reach` says how the hosts of ranks are reached. Throws Error{Failed} if gdb is to run here, and there is none.
  Debugger(io::Loop& loop, launch::Node& node, int rank, std::string reach);
  // Called when gdb has ended.
  void on_ended(std::function<void()> on_ended) { on_ended_ = std::move(on_ended); }
  // Call it once: completes when gdb has ended, or at once if none was started.
  io::Task<void> ended();

  void on_rank_start(const std::string& id, int attempt, const runner::RankRecord& rank) override;
  // The rank waits for a debugger in the rendezvous; a debugger started earlier could have ended by then.
  void on_rank_phase(const std::string& id, int attempt, int rank, wire::Phase phase) override;

 private:
  void on_death();
  std::vector<std::string> command() const;

  io::Loop& loop_;
  launch::Node& node_;
  int rank_;
  const std::string reach_;
  const std::string gdb_;  // its path on this machine; empty: it runs where the rank does
  wire::RankStatus debugged_{};
  pid_t pid_ = 0;  // of gdb
  std::unique_ptr<io::FdWatch> death_;
  std::function<void()> on_ended_ = [] {};
  io::OneShot<bool> over_;
};

}  // namespace distrun::cli

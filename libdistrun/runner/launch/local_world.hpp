#pragma once
// The ranks of one attempt on this machine. Lives on: the coordinator's loop.
//
// Its parts: the processes (rank_process.hpp); a router that turns their events into those of ranks (event_router.hpp);
// the board, with a watch over the ranks' bodies (body_watch.hpp); their stacks (world_stacks.hpp); and what outlives
// them (leftovers.hpp). A member is one of the processes.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/board/board.hpp>
#include <distrun/runner/launch/body_watch.hpp>
#include <distrun/runner/launch/event_router.hpp>
#include <distrun/runner/launch/leftovers.hpp>
#include <distrun/runner/launch/rank_process.hpp>
#include <distrun/runner/launch/world_stacks.hpp>

namespace distrun::launch {

class LocalWorld final : public World, public std::enable_shared_from_this<LocalWorld> {
 public:
  struct Options {
    WorldShape shape;
    std::size_t output_cap = 0;
    std::uint64_t tag = 0;
    std::function<bool(pid_t)> is_foreign;  // whether a child of this process must not be ended by this world
    Probe::Program probe;
  };
  LocalWorld(io::Loop& loop, WorldEvents& events, Options options);
  ~LocalWorld() override;

  std::uint64_t tag() const noexcept { return options_.tag; }
  bool owns(pid_t pid) const noexcept;
  // Creates the board; call before starting ranks. Throws Error if no memory is available.
  void open_board() { board_.emplace(options_.shape.world_size); }
  // Shared by all ranks.
  int board_fd() const noexcept { return board_->fd(); }
  // The number of processes to start.
  int members() const noexcept { return options_.shape.processes(); }
  // Creates the descriptors of the next process. Throws Error if there are not enough. `ending`: as for
  // process_under(), if a command starts the process.
  RankEnds make_member(std::vector<std::string> ending = {});
  // The process exists and is our child; it is not reported yet.
  void adopt(int member, pid_t pid) { members_[static_cast<std::size_t>(member)]->adopt(pid); }
  // The process runs: reports its ranks as started. If it cannot be watched, ends it and reports the failure soon.
  void started(int member, pid_t pid);
  void spawn_failed(const std::string& why);

  void send(int rank, wire::Bytes packed) override;
  void signal(int rank, int signal) override;
  void signal_process(int rank, int signal) override;
  std::optional<board::Shown> shown(int rank) const override;
  void collect_stacks(const StackOrder& order, OnStacks on_stacks) override;
  std::optional<board::Dump> crash(int rank) const override;
  void name_stacks(const char* source, std::vector<std::pair<int, wire::RawStacks>> by_rank, base::Nanoseconds bound,
                   OnStacks on_stacks) override;
  base::Nanoseconds cpu_wait(int rank) const override;
  base::Nanoseconds cpu_time(int rank) const override;
  ProcessState process_state(int rank) const override;
  proc::Captured standard_output(int rank) const override;
  proc::Captured standard_error(int rank) const override;
  void finish_output() override;
  void hold_output(bool hold) override;
  void forget_output() override;
  bool has_offspring() override;
  std::vector<Leftover> leftovers() override;
  std::vector<base::HeldName> held_by_leftovers(const std::vector<std::string>& directories) override;
  EndedLeftovers end_leftovers() override;

 private:
  RankProcess& process_of(int rank) const {
    return *members_[static_cast<std::size_t>(options_.shape.threads ? 0 : rank - options_.shape.first)];
  }
  void on_frame(int member, const wire::Frame& frame);
  void on_lost(int member, const std::string& why);

  io::Loop& loop_;
  WorldEvents& events_;
  const Options options_;
  std::optional<board::Board> board_;
  std::vector<std::unique_ptr<RankProcess>> members_;
  int made_ = 0;
  EventRouter router_;
  WorldStacks stacks_;
  Leftovers leftovers_;
  BodyWatch bodies_;
};

}  // namespace distrun::launch

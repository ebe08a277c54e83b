#pragma once
// The ranks of one attempt on this machine. Lives on: the coordinator's loop.
//
// A rank: made (descriptors) -> started (pid known) -> ended (reaped). Its connection may be lost before
// it ends.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/board/board.hpp>
#include <distrun/io/frame_socket.hpp>
#include <distrun/launch/node.hpp>
#include <distrun/launch/output_pipe.hpp>
#include <distrun/launch/stack_collector.hpp>

namespace distrun::launch {

// A rank's ends of its descriptors, to be handed over and closed here.
struct RankEnds {
  base::Fd control;
  base::Fd out;
  base::Fd err;
};

class LocalWorld final : public World, public std::enable_shared_from_this<LocalWorld> {
 public:
  struct Options {
    int world_size = 1;
    std::size_t output_cap = 0;
    std::uint64_t tag = 0;
    std::function<bool(pid_t)> is_foreign;  // tells children of this process that are not this world's to end
    Probe::Program probe;
  };
  LocalWorld(io::Loop& loop, WorldEvents& events, Options options);
  ~LocalWorld() override;

  std::uint64_t tag() const noexcept { return options_.tag; }
  bool owns(pid_t pid) const noexcept;
  // Makes the board, before any rank. Throws Error if there is no memory for it.
  void open_board() { board_.emplace(static_cast<int>(members_.size())); }
  // For the ranks, all of them.
  int board_fd() const noexcept { return board_->fd(); }
  // Descriptors for the next rank.
  RankEnds make_rank();
  // The rank runs. Tells the events.
  void started(int rank, pid_t pid);
  void spawn_failed(const std::string& why);

  void send(int rank, wire::Bytes packed) override;
  void signal(int rank, int signal) override;
  std::optional<board::Shown> shown(int rank) const override;
  void collect_stacks(const StackOrder& order, OnStacks on_stacks) override;
  std::optional<board::Dump> crash(int rank) const override;
  void name_stacks(std::vector<std::pair<int, wire::RawStacks>> by_rank, base::Nanoseconds bound,
                   OnStacks on_stacks) override;
  bool is_from_ranks(int pid) const override;
  proc::Captured standard_output(int rank) const override;
  proc::Captured standard_error(int rank) const override;
  void finish_output() override;
  std::vector<std::string> leftovers() override;
  int end_leftovers() override;

 private:
  struct Member {
    pid_t pid = 0;
    bool ended = false;
    base::Fd connection;                      // until the rank is started
    std::unique_ptr<io::FrameSocket> socket;  // from then on
    std::unique_ptr<OutputPipe> out;
    std::unique_ptr<OutputPipe> err;
    std::unique_ptr<io::FdWatch> death;
  };
  Member& at(int rank) { return members_[static_cast<std::size_t>(rank)]; }
  const Member& at(int rank) const { return members_[static_cast<std::size_t>(rank)]; }
  void on_death(int rank);
  void on_frame(int rank, const wire::Frame& frame);
  bool ask_for_stacks(int rank);
  void on_collected(const evidence::Stacks& stacks);
  bool is_leftover(pid_t pid) const;

  io::Loop& loop_;
  WorldEvents& events_;
  Options options_;
  std::optional<board::Board> board_;
  std::vector<Member> members_;
  int made_ = 0;
  std::unique_ptr<StackCollector> collector_;      // the one at work
  std::vector<OnStacks> waiting_for_stacks_;       // whoever wants what it brings
  std::vector<std::unique_ptr<Probe>> naming_;
};

}  // namespace distrun::launch

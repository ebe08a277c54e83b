#pragma once
// The ranks of one attempt on this machine. Lives on: the coordinator's loop.
//
// A member is a process: that of one rank, or of all of them if they are threads.
// A member: made (descriptors) -> started (pid known) -> ended (reaped). Its connection may be lost before it ends.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/board/board.hpp>
#include <distrun/common/io/frame_socket.hpp>
#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/launch/output_pipe.hpp>
#include <distrun/runner/launch/stack_collector.hpp>

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
    bool threads = false;  // one process for all ranks
    bool program = false;  // ranks become programs, which say nothing
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
  void open_board() { board_.emplace(options_.world_size); }
  // For the ranks, all of them.
  int board_fd() const noexcept { return board_->fd(); }
  // How many processes are to be started.
  int members() const noexcept { return static_cast<int>(members_.size()); }
  // Descriptors for the next of them. Throws Error if there are not enough.
  RankEnds make_member();
  // It is there, and ours, though nobody is told yet.
  void adopt(int member, pid_t pid) { this->member(member).pid = pid; }
  // It runs. Tells the events of its ranks; if it cannot be watched it is ended, and that it failed is told soon.
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
  bool is_from_ranks(int pid) const override;
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
  struct Member {
    pid_t pid = 0;
    bool ended = false;
    base::Fd connection;                      // until the rank is started
    std::unique_ptr<io::FrameSocket> socket;  // from then on
    std::unique_ptr<OutputPipe> out;
    std::unique_ptr<OutputPipe> err;
    std::unique_ptr<io::FdWatch> death;
  };
  struct End {
    int rank = -1;            // of whose threads one has ended the process; -1: none of them, or nobody knows
    proc::ExitStatus status;  // its doing: not always what its process came to
  };
  Member& member(int index) { return members_[static_cast<std::size_t>(index)]; }
  Member& at(int rank) { return member(options_.threads ? 0 : rank); }
  const Member& at(int rank) const { return members_[options_.threads ? 0 : static_cast<std::size_t>(rank)]; }
  std::vector<int> ranks_of(int member) const;
  bool has_output(int rank) const;
  void watch(int member);
  void end_unwatched(Member& member, const std::string& why);
  void on_death(int member);
  void on_lost(int member, const std::string& why);
  void look_for_lost_bodies();
  void look_for_stray_child(int rank);
  void look_for_lost_body(int rank);
  void follow_output(int member);
  void on_frame(int member, const wire::Frame& frame);
  void take_stacks(int member, const wire::Frame& frame);
  End end_of(proc::ExitStatus status) const;
  bool ask_for_stacks(int rank);
  void on_collected(evidence::Stacks stacks);
  void tell_ranks_apart(evidence::Stacks& stacks) const;
  bool is_leftover(pid_t pid) const;

  io::Loop& loop_;
  WorldEvents& events_;
  Options options_;
  std::optional<board::Board> board_;
  std::vector<Member> members_;
  int made_ = 0;
  std::unique_ptr<StackCollector> collector_;  // the one at work
  std::vector<OnStacks> waiting_for_stacks_;   // whoever wants what it brings
  std::vector<std::unique_ptr<Probe>> naming_;
  std::vector<int> bodies_over_;  // of each rank: how often that was seen
  std::vector<int> strays_seen_;  // how often a stray child of a rank was
  io::Alarm bodies_;              // when it is looked for next
};

}  // namespace distrun::launch

#pragma once
// The ranks of one attempt on this machine. Lives on: the coordinator's loop.
//
// A member is a process: that of one rank, or of all ranks if they are threads. States of a member: made (descriptors
// exist) -> started (pid known) -> ended (reaped). Its connection may be lost before it ends.
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

// The rank's ends of its descriptors, to be passed to it and closed here.
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
    bool program = false;  // ranks become programs, which send nothing
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
  void open_board() { board_.emplace(options_.world_size); }
  // Shared by all ranks.
  int board_fd() const noexcept { return board_->fd(); }
  // The number of processes to start.
  int members() const noexcept { return static_cast<int>(members_.size()); }
  // Creates the descriptors of the next process. Throws Error if there are not enough.
  RankEnds make_member();
  // The process exists and is our child; it is not reported yet.
  void adopt(int member, pid_t pid) { this->member(member).pid = pid; }
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
    base::Fd connection;                      // until the process is started
    std::unique_ptr<io::FrameSocket> socket;  // from then on
    std::unique_ptr<OutputPipe> out;
    std::unique_ptr<OutputPipe> err;
    std::unique_ptr<io::FdWatch> death;
  };
  struct End {
    int rank = -1;            // the rank that has ended the process; -1: unknown, or no rank
    proc::ExitStatus status;  // how that rank ended, which may differ from the process's status
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
  std::unique_ptr<StackCollector> collector_;  // the current collection
  std::vector<OnStacks> waiting_for_stacks_;   // callbacks that get its result
  std::vector<std::unique_ptr<Probe>> naming_;
  std::vector<int> bodies_over_;  // by rank: how often the end of its body was seen
  std::vector<int> strays_seen_;  // by rank: how often a stray child was seen
  io::Alarm bodies_;              // time of the next check
};

}  // namespace distrun::launch

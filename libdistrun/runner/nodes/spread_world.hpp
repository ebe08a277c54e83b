#pragma once
// The ranks of one attempt on the nodes of a run. What it says of them without waiting is what their nodes told last
// (mirror.hpp). Lives on: the coordinator's loop.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/nodes/mirror.hpp>
#include <distrun/runner/nodes/remote_node.hpp>

namespace distrun::nodes {

class SpreadWorld final : public launch::World,
                          public RemoteNode::WorldPart,
                          public std::enable_shared_from_this<SpreadWorld> {
 public:
  // The ranks of a node: `count` from `first` on.
  struct Part {
    RemoteNode* node = nullptr;
    int first = 0;
    int count = 0;
    bool is_swept = false;
    bool is_lost = false;
  };
  // `store` is the URL of the ranks' store; `keeps` lives as long as the world. The nodes must outlive this.
  SpreadWorld(io::Loop& loop, launch::WorldEvents& events, std::uint32_t number, std::vector<Part> parts,
              std::string store, std::shared_ptr<const void> keeps);
  ~SpreadWorld() override;

  // Orders the nodes to start the ranks. A failure is reported soon, as Node::spawn() says.
  void begin(const launch::WorldSpec& spec);

  void take(int node, const wire::Frame& frame) override;
  void lose(int node, const std::string& why) override;

  void send(int rank, wire::Bytes packed) override;
  void signal(int rank, int signal) override { tell_signal(rank, signal, false); }
  void signal_process(int rank, int signal) override { tell_signal(rank, signal, true); }
  std::optional<board::Shown> shown(int rank) const override { return at(rank).shown; }
  std::uint64_t epoch(int rank) const override { return at(rank).shown ? at(rank).shown->epoch : 0; }
  void collect_stacks(const launch::StackOrder& order, launch::OnStacks on_stacks) override;
  std::optional<board::Dump> crash(int rank) const override { return at(rank).crash; }
  void name_stacks(const char* source, std::vector<std::pair<int, wire::RawStacks>> by_rank, base::Nanoseconds bound,
                   launch::OnStacks on_stacks) override;
  base::Nanoseconds cpu_wait(int rank) const override { return at(rank).cpu_wait; }
  base::Nanoseconds cpu_time(int rank) const override { return at(rank).cpu_time; }
  launch::ProcessState process_state(int rank) const override { return at(rank).process; }
  proc::Captured standard_output(int rank) const override { return at(rank).out; }
  proc::Captured standard_error(int rank) const override { return at(rank).err; }
  void finish_output() override {}
  void hold_output(bool hold) override;
  void forget_output() override {}
  // Nodes keep no ranks from one test to the next, so these have no caller.
  bool has_offspring() override { return false; }
  std::vector<launch::Leftover> leftovers() override { return {}; }
  std::vector<base::HeldName> held_by_leftovers(const std::vector<std::string>& /*directories*/) override { return {}; }
  launch::EndedLeftovers end_leftovers() override { return {}; }
  const launch::Spread* spread() const override { return &spread_; }
  void sweep(bool patient, std::function<void(std::vector<launch::LeftBehind>)> on_swept) override;

 private:
  class Gathering;

  const RankMirror& at(int rank) const { return ranks_.at(static_cast<std::size_t>(rank)); }
  RankMirror& at(int rank) { return ranks_.at(static_cast<std::size_t>(rank)); }
  Part& part_of(int rank);
  Part& part_on(int node);
  // Throws Error{InvalidArgument} if the rank does not run on that node.
  int checked(int rank, const Part& part) const;
  void tell_signal(int rank, int signal, bool process_only);
  void take_checked(Part& part, const wire::Frame& frame);
  void take_state(const Part& part, WorldState state);
  void on_spawned(const Part& part, const Spawned& answer);
  void on_frame_of_rank(const Part& part, const wire::Frame& frame);
  void on_ended(const Part& part, RankEnded ended);
  void on_captured(const Part& part, CapturedStream captured);
  void on_swept(Part& part, std::vector<launch::LeftBehind> left);
  void check_swept();

  io::Loop& loop_;
  launch::WorldEvents& events_;
  const std::uint32_t number_;
  std::vector<Part> parts_;
  launch::Spread spread_;
  const std::shared_ptr<const void> keeps_;
  std::vector<RankMirror> ranks_;
  bool may_begin_ = false;          // the node of rank 0 has answered
  std::vector<wire::Frame> early_;  // frames of ranks that came before that, with the node as their rank
  std::vector<launch::LeftBehind> left_;
  std::function<void(std::vector<launch::LeftBehind>)> on_swept_;
};

}  // namespace distrun::nodes

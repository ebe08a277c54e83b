#pragma once
// The ranks of a world on the nodes of a run, as the coordinator knows them: takes the nodes' frames, keeps the last
// news of each rank (mirror.hpp), reports events, and waits for the nodes' answers. Lives on: the coordinator's loop.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/nodes/input_window.hpp>
#include <distrun/runner/nodes/mirror.hpp>
#include <distrun/runner/nodes/output_window.hpp>
#include <distrun/runner/nodes/remote_node.hpp>
#include <distrun/runner/nodes/seen_output.hpp>
#include <distrun/runner/nodes/world_traces.hpp>

namespace distrun::nodes {

class SpreadRanks final : public RemoteNode::WorldPart, public std::enable_shared_from_this<SpreadRanks> {
 public:
  // The ranks of a node: `count` from `first` on.
  struct Part {
    RemoteNode* node = nullptr;
    int first = 0;
    int count = 0;
    bool has_begun = false;    // its node was ordered to start them
    bool has_spawned = false;  // its node has answered
    bool is_asked = false;     // and has not answered yet
    bool is_lost = false;
  };
  // The answers of all nodes to an order to inspect or to sweep.
  struct Answers {
    bool is_clean = true;
    std::vector<launch::LeftBehind> left;
  };
  using OnAnswers = std::function<void(Answers)>;

  // The nodes and `events` must outlive this.
  SpreadRanks(io::Loop& loop, launch::WorldEvents& events, std::uint32_t world, std::vector<Part> parts);

  // In the order of their nodes, which is that of their ranks.
  const std::vector<Part>& parts() const noexcept { return parts_; }
  // Call when the node of the part has been ordered to start its ranks.
  void note_begin(int node) { part_on(node).has_begun = true; }
  const Part& part_of(int rank) const;
  const RankMirror& at(int rank) const { return ranks_.at(static_cast<std::size_t>(rank)); }
  const launch::Spread& spread() const noexcept { return spread_; }
  void use_store(std::string url) { spread_.store = std::move(url); }
  // The ranks run this program, and begin when all nodes have said that they can run it.
  void expect_program(const launch::ProgramSpec& program);

  // Returns what a report needs of a rank's output.
  proc::Captured captured(int rank, launch::Stream stream) const;
  void forget_output();
  OutputReceiver& output() noexcept { return output_; }
  WorldTraces& traces() noexcept { return traces_; }

  // Sends an order to all nodes that were ordered to start ranks and are not lost, and waits for their answers instead
  // of those to an earlier order; none come if there are no such nodes. A node that is lost meanwhile has answered.
  void ask(wire::NodeFrame order, const WorldOrder& what, OnAnswers on_answers);
  // Calls the waiting callback if all have answered.
  void check_answers();
  // Takes news of ranks that came as part of another answer.
  void take_state(int node, WorldState state) { take_state(part_on(node), std::move(state)); }

  void take(int node, const wire::Frame& frame) override;
  void lose(int node, const std::string& why) override;

 private:
  RankMirror& mirror_of(int rank) { return ranks_.at(static_cast<std::size_t>(rank)); }
  Part& part_on(int node);
  void take_checked(Part& part, const wire::Frame& frame);
  void take_state(const Part& part, WorldState state);
  void use_ports(const Part& part, const Ports& ports);
  void on_spawned(Part& part, const Spawned& answer);
  void begin_program();
  void on_output(const Part& part, OutputPiece piece);
  void on_frame_of_rank(const Part& part, const wire::Frame& frame);
  void on_ended(const Part& part, RankEnded ended);
  void on_captured(const Part& part, CapturedStream captured);
  void on_inspected(Part& part, const Inspected& answer);
  void on_swept(Part& part, Swept answer);
  void note_answer(Part& part, wire::NodeFrame order);

  io::Loop& loop_;
  launch::WorldEvents& events_;
  const std::uint32_t world_;  // its number
  std::vector<Part> parts_;
  launch::Spread spread_;
  std::vector<RankMirror> ranks_;
  OutputReceiver output_;
  SeenOutput seen_;      // of a program; nodes send the output of tests when the ranks have ended, or wait
  int stdin_rank_ = -1;  // of a program: the rank that reads stdin_fd_
  int stdin_fd_ = -1;
  std::unique_ptr<InputSource> input_;  // once the rank begins
  bool may_begin_ = false;              // the node of rank 0 has answered
  std::vector<wire::Frame> early_;      // frames of ranks that came before that, with the node as their rank
  wire::NodeFrame asked_{};             // the last order to all nodes
  Answers answers_;                     // to it, so far
  OnAnswers on_answers_;
  WorldTraces traces_;
};

}  // namespace distrun::nodes

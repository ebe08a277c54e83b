#pragma once
// The ranks of a world that run on this node, beside what the node provides for them: directories, and the search for
// what they leave behind. Turns their events into frames for the coordinator, and completes the orders that come from
// there. Lives on: the node's loop.
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <distrun/runner/attempt/attempt_store.hpp>
#include <distrun/runner/attempt/sweep.hpp>
#include <distrun/runner/attempt/test_resources.hpp>
#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/nodes/messages.hpp>

namespace distrun::nodes {

// Shared by all worlds of a node; it must outlive them.
struct NodeShared {
  io::Loop& loop;
  launch::Node& node;
  runner::NameWatch& names;
  runner::WorkDirPool& dirs;
  runner::Graces graces;
  Welcome run;
  std::string address;                           // of this host, as other hosts reach it
  std::function<void(wire::Bytes packed)> send;  // to the coordinator; never throws
};

class HostedWorld final : public launch::WorldEvents {
 public:
  // Throws Error if the work directories cannot be created.
  HostedWorld(NodeShared& shared, SpawnRequest request);
  ~HostedWorld() override;

  // Starts the ranks.
  void begin();
  // Passes a packed control frame on. Throws Error{InvalidArgument} for any other bytes.
  void send_to_rank(int rank, const std::string& bytes);
  void signal(const SignalOrder& order);
  void collect(const CollectRequest& request);
  void name_stacks(NameRequest request);
  void hold_output(bool hold) { world_->hold_output(hold); }
  void sweep(bool patient);

 private:
  void on_rank_started(int rank, int pid) override;
  void on_frame(int rank, const wire::Frame& frame) override;
  void on_connection_lost(int rank, const std::string& why) override;
  void on_stray_child(int rank) override;
  void on_rank_ended(int rank, proc::ExitStatus status, int because_of) override;
  void on_spawn_failed(const std::string& why) override;
  void on_output(int rank, launch::Stream stream, std::string_view bytes) override;

  bool has(int rank) const noexcept;
  // Returns whether all ranks of the world run here, so that they need nothing of other hosts.
  bool has_all() const noexcept { return request_.ranks_here == request_.world_size; }
  std::string complete_order(const wire::Frame& frame);
  std::string suite_dir(const wire::RunOrder& order) const;
  RankView view_of(int rank);
  WorldState state_of_all();
  void tell_state();
  void finish(std::vector<runner::Leak> leaks);
  template <class Message>
  void tell(wire::NodeFrame kind, const Message& message) const;

  NodeShared& shared_;
  const SpawnRequest request_;
  const std::unique_ptr<runner::WorkDirs> dirs_;
  std::unique_ptr<runner::AttemptStore> store_;  // if all ranks run here
  runner::TestResources resources_;
  std::shared_ptr<launch::World> world_;
  std::unique_ptr<runner::Sweep> sweep_;
  std::string suite_dir_;            // of a suite, if its host runs here: removed with this
  std::map<int, wire::Bytes> told_;  // by rank: the last view, encoded
  std::map<int, bool> crash_told_;
  int alive_ = 0;
  io::Alarm due_;  // of the next look at the board
  std::shared_ptr<const void> guard_ = std::make_shared<int>(0);
};

}  // namespace distrun::nodes

#pragma once
// A node's work for its coordinator: this machine as a node (launch/local_node.hpp), driven by frames. Lives on: the
// node's loop.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <distrun/runner/launch/local_node.hpp>
#include <distrun/runner/launch/machine_load.hpp>
#include <distrun/runner/nodes/hosted_world.hpp>
#include <distrun/runner/nodes/lane_tmps.hpp>

namespace distrun::nodes {

class NodeService {
 public:
  struct Settings {
    launch::LocalNodeOptions node;
    proc::RunPlaces places;
    std::string address;                      // of this host, as other hosts reach it; empty: all ranks run on one host
    int cpus = 1;                             // that the ranks here may use
    std::vector<std::string> host_variables;  // of programs, which override the coordinator's
  };

  // `send` queues a packed frame for the coordinator and never throws. `on_closed` is called when the coordinator has
  // closed the node, and everything is ended and removed.
  NodeService(io::Loop& loop, Settings settings, std::function<void(wire::Bytes)> send,
              std::function<void()> on_closed);
  ~NodeService();

  // Throws Error{InvalidArgument} for nonsense; the link cannot be used any more then.
  void on_frame(const wire::Frame& frame);
  // Returns whether a signal to end is for the coordinator to act on, and tells it.
  bool tell_ending(int signal) const;
  // Ends all ranks and everything that they have started, and removes the run's files. Idempotent.
  Closed close();

 private:
  void on_frame_of_world(const wire::Frame& frame);
  void welcome(const Welcome& run);
  io::Task<void> list(ListRequest request);
  io::Task<void> prepare(PrepareRequest request);
  io::Task<void> try_private_tmp(TrialRequest request);
  void begin_load(const LoadRequest& request);
  std::vector<pid_t> pausable_ranks() const;
  void spawn(SpawnRequest request);
  io::Task<void> spawn_with_tmp(SpawnRequest request);
  void host(SpawnRequest request, std::shared_ptr<const runner::PrivateTmp> tmp);
  void read_trace(const TraceRequest& request);
  void end(std::uint32_t world);
  void renew(RenewRequest request);
  void begin(const BeginOrder& order);
  void start(io::Task<void> task);
  HostedWorld* find(std::uint32_t world);
  template <class Message>
  void tell(wire::NodeFrame kind, const Message& message) const;

  io::Loop& loop_;
  const Settings settings_;
  std::function<void(wire::Bytes)> send_;
  std::function<void()> on_closed_;
  launch::LocalNode node_;
  // Once the coordinator has said what run this is.
  std::optional<runner::NameWatch> names_;
  std::optional<runner::WorkDirPool> dirs_;
  std::optional<NodeShared> shared_;
  std::optional<LaneTmps> tmps_;      // if ranks have a private /tmp
  std::set<std::uint32_t> starting_;  // worlds that wait until their /tmp is created
  std::map<std::uint32_t, std::unique_ptr<HostedWorld>> worlds_;
  std::optional<launch::MachineLoad> load_;  // of a stress run
  bool closed_ = false;
  std::shared_ptr<const void> guard_ = std::make_shared<int>(0);
};

}  // namespace distrun::nodes

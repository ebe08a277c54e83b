#pragma once
// The nodes of a run as one launch::Node: splits worlds over them. Lives on: the coordinator's loop.
#include <memory>
#include <string>
#include <vector>

#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/nodes/host_list.hpp>
#include <distrun/runner/nodes/remote_node.hpp>
#include <distrun/runner/nodes/spread_world.hpp>
#include <distrun/runner/nodes/world_store.hpp>

namespace distrun::nodes {

class NodeSet final : public launch::Node {
 public:
  // `make_store` may throw Error. `per_host` as for split_world(); 0: not said.
  NodeSet(io::Loop& loop, int per_host, SpreadWorld::MakeStore make_store)
      : loop_(loop), per_host_(per_host), make_store_(std::move(make_store)) {}

  // In the order in which ranks fill them. Call before use.
  void add(std::unique_ptr<RemoteNode> node, HostSlot slot, launch::Resources resources = {});
  RemoteNode& at(int node) { return *nodes_.at(static_cast<std::size_t>(node)); }
  std::size_t size() const noexcept { return nodes_.size(); }
  // Ends all nodes in order, and waits for what they have found; at most `bound`. Those that do not answer are lost.
  io::Task<std::vector<Closed>> close_all(base::Nanoseconds bound);

  io::Task<wire::PluginTable> list(std::string plugin, wire::ListOrder order, base::Nanoseconds bound) override;
  // A plugin that must not be forked on one of them is started by exec on all. Ranks that would be threads are
  // processes that are kept. Nodes that are lost do not count.
  io::Task<launch::Prepared> prepare(std::string plugin, Isolation isolation, base::Nanoseconds bound) override;
  // Throws Error{Unimplemented}.
  io::Task<std::shared_ptr<launch::MountSpace>> make_mounts(std::vector<launch::Mount> mounts) override;
  io::Task<void> require_private_tmp() override;
  io::Task<void> begin_load(launch::LoadPlan plan) override;
  void end_load() override;
  std::shared_ptr<launch::World> spawn(const launch::WorldSpec& spec, launch::WorldEvents& events) override;
  bool is_spread() const override { return true; }
  std::vector<launch::Resources> machines() const override { return resources_; }
  std::vector<int> split(int world_size) const override;
  void spare(int /*pid*/) override {}
  void cancel() override;
  void release(const std::string& plugin) override;
  void close() override {}

 private:
  io::Task<void> demand(std::vector<RemoteNode::Reply<PreparedAnswer>> replies, ErrorKind kind);
  std::vector<SpreadRanks::Part> parts_for(int world_size) const;
  template <class Message>
  void tell_all(wire::NodeFrame kind, const Message& message);

  io::Loop& loop_;
  const int per_host_;
  SpreadWorld::MakeStore make_store_;
  std::vector<HostSlot> slots_;
  std::vector<launch::Resources> resources_;
  std::vector<std::unique_ptr<RemoteNode>> nodes_;
  std::uint32_t last_world_ = 0;
};

}  // namespace distrun::nodes

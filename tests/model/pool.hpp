#pragma once
// All nodes and packets that a model has met, each stored once and identified by its number, and the results of steps:
// the real protocol takes a step once, however many worlds take it.
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/node.hpp"

namespace distrun::rref::model {

using NodeId = std::uint32_t;
using PacketId = std::uint32_t;

class Pool {
 public:
  struct Step {
    NodeId node;  // the node after the step
    std::vector<PacketId> packets;
    Outcome outcome;  // without its packets
  };

  NodeId add(const Node& node);
  PacketId add(const Packet& packet);
  const Node& node(NodeId id) const { return nodes_[id]; }
  const Packet& packet(PacketId id) const { return packets_[id]; }
  std::size_t nodes() const noexcept { return nodes_.size(); }

  const Step& take(NodeId node, StepKind kind, WorkerId to, std::uint32_t what);

 private:
  std::deque<Node> nodes_;
  std::deque<Packet> packets_;
  std::unordered_map<std::string, NodeId> node_ids_;
  std::unordered_map<std::string, PacketId> packet_ids_;
  std::deque<Step> steps_;
  std::unordered_map<std::uint64_t, std::size_t> step_ids_;
};

}  // namespace distrun::rref::model

#include "model/pool.hpp"

#include <utility>

#include <distrun/common/base/check.hpp>

namespace distrun::rref::model {

NodeId Pool::add(const Node& node) {
  const auto [place, is_new] = node_ids_.emplace(node.text(), static_cast<NodeId>(nodes_.size()));
  if (is_new) nodes_.push_back(node);
  return place->second;
}

PacketId Pool::add(const Packet& packet) {
  const auto [place, is_new] = packet_ids_.emplace(text(packet), static_cast<PacketId>(packets_.size()));
  if (is_new) packets_.push_back(packet);
  return place->second;
}

const Pool::Step& Pool::take(NodeId node, StepKind kind, WorkerId to, std::uint32_t what) {
  const std::uint64_t key = std::uint64_t{node} << 32 | std::uint64_t{what} << 8 |
                            static_cast<std::uint64_t>(kind) << 4 | static_cast<std::uint64_t>(to & 0xf);
  DISTRUN_ASSERT(what < 1U << 24);
  const auto [place, is_new] = step_ids_.emplace(key, steps_.size());
  if (!is_new) return steps_[place->second];
  const bool has_packet = kind == StepKind::Deliver || kind == StepKind::Withdraw;
  Node next = nodes_[node];
  Step step;
  step.outcome = next.take(kind, to, what, has_packet ? packets_[what] : Packet{});
  for (const Packet& each : std::exchange(step.outcome.packets, {})) step.packets.push_back(add(each));
  step.node = add(next);
  steps_.push_back(std::move(step));
  return steps_.back();
}

}  // namespace distrun::rref::model

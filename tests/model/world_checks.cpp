// The violations of a world.
#include "model/world.hpp"

namespace distrun::rref::model {

// Returns whether the dead worker could have caused the release of the value before its owner knew of the fork.
bool World::is_broken(const State& state, unsigned lineage) const {
  return state.dead >= 0 && (lineage >> static_cast<unsigned>(state.dead) & 1) != 0;
}

void World::check_outcome(const State& state, WorkerId worker, const Outcome& outcome, std::string& violation) const {
  const std::string who = "worker " + std::to_string(worker);
  if (!outcome.wrong.empty()) violation = who + ": " + outcome.wrong;
  for (const Outcome::Failed& each : outcome.failed) {
    if (each.owner != state.dead && !is_broken(state, each.lineage)) {
      violation = who + ": fork " + brief(each.fork) + " is used, and has failed";
    }
  }
  for (const Outcome::Failed& each : outcome.missing) {
    if (!is_broken(state, each.lineage))
      violation = "fork " + brief(each.fork) + " arrived at its owner, which has no value";
  }
  for (const RRefId& r : outcome.released) {
    if (violation.empty()) violation = check_release(state, r);
  }
  for (const ForkId& f : outcome.ended) {
    if (violation.empty()) violation = check_end(state, f);
  }
}

// Checks that no use of the value is left, or in flight.
std::string World::check_release(const State& state, RRefId r) const {
  for (std::size_t i = 0; i < state.nodes.size(); ++i) {
    if (static_cast<int>(i) == state.dead) continue;
    for (const auto& [f, held] : pool_.node(state.nodes[i]).held()) {
      if (held.rref != r || held.is_given_up || (!held.is_confirmed && is_broken(state, held.lineage))) continue;
      return "early free: " + brief(r) + " is released while worker " + std::to_string(i) + " uses fork " + brief(f);
    }
  }
  for (const PacketId each : state.flying) {
    const Packet& packet = pool_.packet(each);
    if (packet.kind != Packet::Kind::Fork || packet.fork.rref != r || is_broken(state, packet.lineage)) continue;
    return "early free: " + brief(r) + " is released while fork " + brief(packet.fork.fork) + " is under way";
  }
  return "";
}

// G2: the owner knows each child of a fork that has ended.
std::string World::check_end(const State& state, ForkId ended) const {
  const auto bad = [&](ForkId child) {
    return "fork " + brief(ended) + " has ended, and its owner does not know of its child " + brief(child);
  };
  for (const PacketId each : state.flying) {
    const Packet& packet = pool_.packet(each);
    if (packet.kind == Packet::Kind::Fork && packet.shared_of == ended) return bad(packet.fork.fork);
  }
  for (std::size_t i = 0; i < state.nodes.size(); ++i) {
    if (static_cast<int>(i) == state.dead) continue;
    for (const auto& [f, held] : pool_.node(state.nodes[i]).held()) {
      if (held.shared_of != ended || held.owner == state.dead) continue;
      const Node& owner = pool_.node(state.nodes[static_cast<std::size_t>(held.owner)]);
      if (!owner.protocol().is_noted(held.rref, f)) return bad(f);
    }
  }
  return "";
}

// The owner has noted each confirmed fork, and has the value of the others: a worker that asks for it gets it.
void World::check_uses(const State& state, std::string& violation) const {
  const auto is_gone = [&](WorkerId owner, RRefId r) {
    return owner != state.dead &&
           !pool_.node(state.nodes[static_cast<std::size_t>(owner)]).protocol().why_gone(r).empty();
  };
  for (std::size_t i = 0; i < state.nodes.size(); ++i) {
    if (static_cast<int>(i) == state.dead) continue;
    for (const auto& [f, held] : pool_.node(state.nodes[i]).held()) {
      if (held.owner == state.dead || held.is_given_up) continue;
      const ForkProtocol& owner = pool_.node(state.nodes[static_cast<std::size_t>(held.owner)]).protocol();
      const std::string what = "worker " + std::to_string(i) + " uses fork " + brief(f) + ", ";
      if (held.is_confirmed && !owner.is_noted(held.rref, f)) violation = what + "which its owner does not know";
      if (held.is_confirmed || is_broken(state, held.lineage)) continue;
      if (is_gone(held.owner, held.rref)) violation = what + "but its value is gone";
    }
  }
  for (const PacketId each : state.flying) {
    const Packet& packet = pool_.packet(each);
    if (packet.kind != Packet::Kind::Fork || is_broken(state, packet.lineage)) continue;
    if (is_gone(packet.fork.owner, packet.fork.rref)) violation = "the value is gone of a " + model::text(packet);
  }
}

std::string World::leftovers(const State& state) const {
  for (std::size_t i = 0; i < state.nodes.size(); ++i) {
    if (static_cast<int>(i) == state.dead || pool_.node(state.nodes[i]).is_clean()) continue;
    return "all is over, and worker " + std::to_string(i) + " is left with\n" + pool_.node(state.nodes[i]).text();
  }
  return "";
}

}  // namespace distrun::rref::model

// The possible next actions in a world.
#include <algorithm>

#include "model/world.hpp"

namespace distrun::rref::model {
namespace {

constexpr std::uint32_t pair_of(WorkerId sender, WorkerId receiver) {
  return static_cast<std::uint32_t>(sender) << 4 | static_cast<std::uint32_t>(receiver);
}

bool is_ack(const Packet& packet) { return packet.message.kind == ForkMessageKind::Ack; }

bool is_in(const std::vector<std::uint32_t>& sorted, std::uint32_t number) {
  return std::binary_search(sorted.begin(), sorted.end(), number);
}

}  // namespace

std::uint32_t exchange_of(const Packet& packet) {
  const std::uint32_t pair = is_ack(packet) ? pair_of(packet.to, packet.from) : pair_of(packet.from, packet.to);
  return pair << 16 | static_cast<std::uint32_t>(packet.message.number);
}

bool World::may_send(const State& state, WorkerId from, WorkerId to) const {
  return to != state.dead || !is_told(state, from);
}

// Returns whether an acknowledgement only ends its exchange. Nothing else depends on it, and it depends only on its own
// fault: any event of it in some order of events may as well happen first.
bool World::is_idle_ack(const State& state, const Packet& packet) const {
  if (packet.kind != Packet::Kind::Message || !is_ack(packet)) return false;
  const auto& outboxes = pool_.node(state.nodes[static_cast<std::size_t>(packet.to)]).protocol().outboxes();
  const auto outbox = outboxes.find(packet.from);
  if (outbox == outboxes.end()) return true;
  const auto message = outbox->second.waiting().find(packet.message.number);
  return message == outbox->second.waiting().end() || message->second.kind != ForkMessageKind::ForkRequest;
}

void World::add_packet_actions(const State& state, PacketId id, Actions& actions) const {
  const Packet& packet = pool_.packet(id);
  const auto to = static_cast<std::int8_t>(packet.to);
  const auto from = static_cast<std::int8_t>(packet.from);
  actions.push_back({ActionKind::Step, StepKind::Deliver, to, from, id});
  if (packet.kind == Packet::Kind::Fork && state.withdraws < bounds_.withdraws && from != state.dead) {
    actions.push_back({ActionKind::Step, StepKind::Withdraw, from, to, id});
  }
  if (packet.kind != Packet::Kind::Message || state.faulty.size() >= static_cast<std::size_t>(bounds_.faults)) return;
  if (is_in(state.faulty, exchange_of(packet))) return;
  actions.push_back({ActionKind::Duplicate, {}, from, to, id});
  actions.push_back({ActionKind::Vanish, {}, from, to, id});
}

// Workers are symmetric until the first reference, which is created by worker 0 and owned by worker 1.
void World::add_creations(const State& state, WorkerId worker, Actions& actions) const {
  if (state.references >= bounds_.references) return;
  const auto self = static_cast<std::int8_t>(worker);
  const bool is_first = state.references == 0 && state.dead < 0;
  if (is_first && worker != 0) return;
  if (bounds_.has_locals) actions.push_back({ActionKind::Step, StepKind::MakeLocal, self, -1, 0});
  for (std::int8_t to = 0; to < bounds_.workers; ++to) {
    if (to == self || (is_first && to != 1) || !may_send(state, worker, to)) continue;
    actions.push_back({ActionKind::Step, StepKind::Remote, self, to, 0});
  }
}

void World::add_shares(const State& state, WorkerId worker, StepKind kind, std::size_t what, Actions& actions) const {
  if (state.shares >= bounds_.shares) return;
  for (std::int8_t to = 0; to < bounds_.workers; ++to) {
    if ((to == worker && !bounds_.shares_with_self) || !may_send(state, worker, to)) continue;
    actions.push_back({ActionKind::Step, kind, static_cast<std::int8_t>(worker), to, static_cast<std::uint32_t>(what)});
  }
}

void World::add_uses(const State& state, WorkerId worker, Actions& actions) const {
  const auto self = static_cast<std::int8_t>(worker);
  const Node& node = pool_.node(state.nodes[static_cast<std::size_t>(worker)]);
  std::uint32_t what = 0;
  for (const auto& [f, held] : node.held()) {
    actions.push_back({ActionKind::Step, StepKind::DropHeld, self, -1, what});
    if (!held.is_given_up) add_shares(state, worker, StepKind::ShareHeld, what, actions);
    if (held.is_creation && !held.is_confirmed && !held.is_given_up && state.give_ups < bounds_.give_ups) {
      actions.push_back({ActionKind::Step, StepKind::GiveUp, self, -1, what});
    }
    ++what;
  }
  what = 0;
  for ([[maybe_unused]] const RRefId& r : node.values()) {
    actions.push_back({ActionKind::Step, StepKind::DropValue, self, -1, what});
    add_shares(state, worker, StepKind::ShareValue, what++, actions);
  }
}

// Adds messages that wait for an acknowledgement with nothing of their exchange in flight: once, for one loss.
void World::add_sends_again(const State& state, WorkerId worker, Actions& actions) {
  if (state.faulty.empty()) return;
  const auto self = static_cast<std::int8_t>(worker);
  for (const auto& [to, outbox] : pool_.node(state.nodes[static_cast<std::size_t>(worker)]).protocol().outboxes()) {
    if (to == state.dead) continue;
    for (const auto& [number, message] : outbox.waiting()) {
      const std::uint32_t exchange = pair_of(worker, to) << 16 | static_cast<std::uint32_t>(number);
      if (!is_in(state.faulty, exchange) || is_in(state.again, exchange)) continue;
      const bool is_flying = std::any_of(state.flying.begin(), state.flying.end(), [&](PacketId each) {
        const Packet& packet = pool_.packet(each);
        return packet.kind == Packet::Kind::Message && exchange_of(packet) == exchange;
      });
      if (is_flying) continue;
      const PacketId again = pool_.add(Packet{Packet::Kind::Message, worker, to, {}, {}, 0, message});
      actions.push_back({ActionKind::SendAgain, {}, self, static_cast<std::int8_t>(to), again});
    }
  }
}

void World::add_loss(const State& state, WorkerId worker, Actions& actions) const {
  const auto self = static_cast<std::int8_t>(worker);
  if (state.dead < 0) {
    if (bounds_.losses > 0) actions.push_back({ActionKind::Die, {}, self, -1, 0});
  } else if (!is_told(state, worker)) {
    actions.push_back({ActionKind::Step, StepKind::Lose, self, state.dead, 0});
  }
}

// Drops an owner's use of its value after the last share: it protects nothing, so a need for it is a violation.
bool World::add_idle_drop(const State& state, Actions& actions) const {
  if (state.shares < bounds_.shares) return false;
  for (std::size_t i = 0; i < state.nodes.size(); ++i) {
    if (static_cast<int>(i) == state.dead || pool_.node(state.nodes[i]).values().empty()) continue;
    actions.push_back({ActionKind::Step, StepKind::DropValue, static_cast<std::int8_t>(i), -1, 0});
    return true;
  }
  return false;
}

std::vector<Action> World::actions(const State& state, bool reduced) {
  Actions actions;
  if (reduced && add_idle_drop(state, actions)) return actions;
  for (std::size_t i = 0; reduced && i < state.flying.size(); ++i) {
    if (!is_idle_ack(state, pool_.packet(state.flying[i]))) continue;
    add_packet_actions(state, state.flying[i], actions);
    return actions;
  }
  for (std::size_t i = 0; i < state.flying.size(); ++i) {
    if (i == 0 || state.flying[i] != state.flying[i - 1]) add_packet_actions(state, state.flying[i], actions);
  }
  for (WorkerId worker = 0; worker < bounds_.workers; ++worker) {
    if (worker == state.dead) continue;
    add_creations(state, worker, actions);
    add_uses(state, worker, actions);
    add_sends_again(state, worker, actions);
    add_loss(state, worker, actions);
  }
  return actions;
}

}  // namespace distrun::rref::model

#include "model/world.hpp"

#include <algorithm>

namespace distrun::rref::model {

namespace {

template <class Number>
void add_sorted(std::vector<Number>& numbers, Number number) {
  numbers.insert(std::upper_bound(numbers.begin(), numbers.end(), number), number);
}

void remove(std::vector<PacketId>& flying, PacketId packet) {
  flying.erase(std::lower_bound(flying.begin(), flying.end(), packet));
}

template <class Number>
void append(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace

std::string text(const Bounds& bounds) {
  const auto part = [](int count, const char* what) {
    return count == 0 ? std::string() : ", " + std::to_string(count) + what;
  };
  return std::to_string(bounds.workers) + " workers" + part(bounds.references, " references") +
         part(bounds.shares, " shares") + part(bounds.faults, " faults") + part(bounds.give_ups, " give-ups") +
         part(bounds.withdraws, " withdrawals") + part(bounds.losses, " losses") +
         (bounds.has_locals ? ", values of their own" : "") + (bounds.shares_with_self ? ", sharing with oneself" : "");
}

std::string State::key() const {
  std::string bytes;
  bytes.reserve(16 + 4 * (nodes.size() + flying.size() + 2 * faulty.size()));
  for (const std::uint8_t each : {references, shares, give_ups, withdraws, static_cast<std::uint8_t>(dead), told}) {
    append(bytes, each);
  }
  append(bytes, static_cast<std::uint8_t>(flying.size()));
  for (const NodeId each : nodes) append(bytes, each);
  for (const PacketId each : flying) append(bytes, each);
  for (const std::uint32_t each : faulty) append(bytes, each);
  for (const std::uint32_t each : again) append(bytes, ~each);
  return bytes;
}

State World::first() {
  State state;
  for (WorkerId worker = 0; worker < bounds_.workers; ++worker) state.nodes.push_back(pool_.add(Node(worker)));
  return state;
}

State World::take(const State& before, const Action& action, std::string& violation) {
  State state = before;
  switch (action.kind) {
    case ActionKind::Step: take_step(state, action, violation); break;
    case ActionKind::Duplicate:
      add_sorted(state.faulty, exchange_of(pool_.packet(action.what)));
      add_sorted(state.flying, action.what);
      break;
    case ActionKind::Vanish:
      add_sorted(state.faulty, exchange_of(pool_.packet(action.what)));
      remove(state.flying, action.what);
      break;
    case ActionKind::SendAgain:
      add_sorted(state.again, exchange_of(pool_.packet(action.what)));
      add_sorted(state.flying, action.what);
      break;
    case ActionKind::Die: die(state, action.worker); break;
  }
  if (violation.empty()) check_uses(state, violation);
  return state;
}

void World::take_step(State& state, const Action& action, std::string& violation) {
  if (action.step == StepKind::Deliver || action.step == StepKind::Withdraw) remove(state.flying, action.what);
  count(state, action.step);
  const auto self = static_cast<std::size_t>(action.worker);
  const Pool::Step& step = pool_.take(state.nodes[self], action.step, action.to, action.what);
  state.nodes[self] = step.node;
  for (const PacketId each : step.packets) {
    if (pool_.packet(each).to != state.dead) add_sorted(state.flying, each);
  }
  if (action.step == StepKind::Lose) {
    state.told = static_cast<std::uint8_t>(state.told | 1U << self);
    std::erase_if(state.flying, [&](PacketId each) {
      return pool_.packet(each).from == state.dead && pool_.packet(each).to == action.worker;
    });
  }
  check_outcome(state, action.worker, step.outcome, violation);
}

void World::count(State& state, StepKind step) const {
  if (step == StepKind::Remote || step == StepKind::MakeLocal) ++state.references;
  if (step == StepKind::ShareHeld || step == StepKind::ShareValue) ++state.shares;
  if (step == StepKind::GiveUp) ++state.give_ups;
  if (step == StepKind::Withdraw) ++state.withdraws;
}

// Removes packets to the dead worker. Packets that it has sent may still arrive.
void World::die(State& state, WorkerId worker) const {
  state.dead = static_cast<std::int8_t>(worker);
  std::erase_if(state.flying, [&](PacketId each) { return pool_.packet(each).to == worker; });
}

std::string World::text(const State& state, const Action& action) const {
  const std::string who = "worker " + std::to_string(action.worker);
  const std::string to = std::to_string(action.to);
  const auto packet = [&] { return model::text(pool_.packet(action.what)); };
  switch (action.kind) {
    case ActionKind::Duplicate: return "the network doubles the " + packet();
    case ActionKind::Vanish: return "the network loses the " + packet();
    case ActionKind::SendAgain: return who + " sends again: " + packet();
    case ActionKind::Die: return who + " dies";
    case ActionKind::Step: break;
  }
  const Node& node = pool_.node(state.nodes[static_cast<std::size_t>(action.worker)]);
  const auto nth = [&](const auto& all) { return std::next(all.begin(), static_cast<std::ptrdiff_t>(action.what)); };
  switch (action.step) {
    case StepKind::Remote: return who + " calls remote() on " + to;
    case StepKind::MakeLocal: return who + " makes a value of its own";
    case StepKind::ShareHeld: return who + " shares fork " + brief(nth(node.held())->first) + " with " + to;
    case StepKind::ShareValue: return who + " shares its value " + brief(*nth(node.values())) + " with " + to;
    case StepKind::DropHeld: return who + " drops fork " + brief(nth(node.held())->first);
    case StepKind::DropValue: return who + " drops its value " + brief(*nth(node.values()));
    case StepKind::GiveUp: return who + " gives up the creation of fork " + brief(nth(node.held())->first);
    case StepKind::Deliver: return who + " receives the " + packet();
    case StepKind::Withdraw: return who + " could not send the " + packet();
    case StepKind::Lose: return who + " hears that " + to + " is gone";
  }
  return "?";
}

std::string World::text(const State& state) const {
  std::string text;
  for (std::size_t i = 0; i < state.nodes.size(); ++i) {
    if (static_cast<int>(i) == state.dead)
      text += "worker " + std::to_string(i) + ", dead\n";
    else
      text += pool_.node(state.nodes[i]).text();
  }
  for (const PacketId each : state.flying) text += "under way: " + model::text(pool_.packet(each)) + "\n";
  return text;
}

}  // namespace distrun::rref::model

#include "model/node.hpp"

#include <iterator>
#include <utility>

namespace distrun::rref::model {
namespace {

unsigned bit(WorkerId worker) { return 1U << static_cast<unsigned>(worker); }

template <class Container>
auto nth(const Container& container, std::size_t n) {
  return std::next(container.begin(), static_cast<std::ptrdiff_t>(n));
}

}  // namespace

Outcome Node::take(StepKind kind, WorkerId to, std::size_t what, const Packet& packet) {
  Outcome outcome;
  switch (kind) {
    case StepKind::Remote: remote(to, outcome); break;
    case StepKind::MakeLocal: values_.insert(protocol_.next_rref()); break;
    case StepKind::ShareHeld: share_held(to, what, outcome); break;
    case StepKind::ShareValue: share_value(to, what, outcome); break;
    case StepKind::DropHeld: {
      const ForkId f = nth(held_, what)->first;
      held_.erase(f);
      protocol_.drop(f);
      break;
    }
    case StepKind::DropValue: values_.erase(nth(values_, what)); break;
    case StepKind::GiveUp: {
      const ForkId f = nth(held_, what)->first;
      held_.at(f).is_given_up = true;
      protocol_.give_up_creation(f);
      break;
    }
    case StepKind::Deliver: deliver(packet, outcome); break;
    case StepKind::Withdraw: protocol_.withdraw(packet.fork); break;
    case StepKind::Lose: protocol_.lose(to, "it was killed"); break;
  }
  carry_out(outcome);
  check(outcome);
  return outcome;
}

void Node::remote(WorkerId owner, Outcome& outcome) {
  const RRefId r = protocol_.next_rref();
  const ForkId f = protocol_.next_fork();
  protocol_.begin_creation(r, f, owner);
  held_[f] = {r, owner, {}, bit(self_), true, false, false};
  outcome.packets.push_back({Packet::Kind::Create, self_, owner, {r, f, owner, self_}, {}, 0, {}});
}

void Node::share_held(WorkerId to, std::size_t what, Outcome& outcome) {
  const auto& [f, held] = *nth(held_, what);
  const unsigned lineage = bit(self_) | (held.is_confirmed ? 0 : held.lineage);
  outcome.packets.push_back({Packet::Kind::Fork, self_, to, protocol_.share_held(f, to), f, lineage, {}});
}

void Node::share_value(WorkerId to, std::size_t what, Outcome& outcome) {
  const RRefId r = *nth(values_, what);
  outcome.packets.push_back({Packet::Kind::Fork, self_, to, protocol_.share_owned(r, to), {}, bit(self_), {}});
}

void Node::deliver(const Packet& packet, Outcome& outcome) {
  switch (packet.kind) {
    case Packet::Kind::Create:
      if (!protocol_.create(packet.fork.rref, packet.fork.fork, packet.from)) outcome.wrong = "made twice";
      outcome.packets.push_back({Packet::Kind::Created, self_, packet.from, packet.fork, {}, 0, {}});
      break;
    case Packet::Kind::Created: protocol_.confirm_creation(packet.fork.fork); break;
    case Packet::Kind::Fork: arrive(packet, outcome); break;
    case Packet::Kind::Message: protocol_.receive(packet.from, packet.message); break;
  }
}

// A fork that is dropped on arrival needs no separate case: its end may be the next step.
void Node::arrive(const Packet& packet, Outcome& outcome) {
  const Fork& fork = packet.fork;
  const bool is_there = protocol_.why_gone(fork.rref).empty() || values_.count(fork.rref) != 0;
  switch (protocol_.arrive(fork)) {
    case ForkProtocol::Arrival::Owned:
      if (is_there) {
        values_.insert(fork.rref);
      } else {
        outcome.missing.push_back({fork.fork, fork.owner, packet.lineage});
      }
      break;
    case ForkProtocol::Arrival::Held:
      held_[fork.fork] = {fork.rref, fork.owner, packet.shared_of, packet.lineage, false, fork.parent == fork.owner,
                          false};
      break;
    case ForkProtocol::Arrival::Again: outcome.wrong = "fork " + brief(fork.fork) + " has come twice"; break;
  }
}

void Node::carry_out(Outcome& outcome) {
  const Effects effects = protocol_.take_effects();
  for (const auto& [to, message] : effects.sends) {
    if (message.kind == ForkMessageKind::UserDelete) outcome.ended.push_back(message.fork);
    outcome.packets.push_back({Packet::Kind::Message, self_, to, {}, {}, 0, message});
  }
  for (const ForkId& f : effects.confirmed) {
    const auto held = held_.find(f);
    if (held != held_.end()) held->second.is_confirmed = true;
  }
  for (const Effects::Failed& each : effects.failed) {
    const auto held = held_.find(each.fork);
    if (held == held_.end()) continue;
    outcome.failed.push_back({each.fork, held->second.owner, held->second.lineage});
    held_.erase(held);
  }
  outcome.released = effects.released;
}

void Node::check(Outcome& outcome) const {
  const std::string contradiction = protocol_.contradiction();
  if (!contradiction.empty()) outcome.wrong = contradiction;
  for (const auto& [f, held] : held_) {
    if (!protocol_.is_held(f)) outcome.wrong = "fork " + brief(f) + " is used, but not held";
  }
}

bool Node::is_clean() const {
  const ForkCounts counts = protocol_.counts();
  return held_.empty() && values_.empty() && counts.owned == 0 && counts.forks == 0 && counts.users == 0 &&
         counts.early == 0 && counts.is_settled();
}

std::string Node::text() const {
  std::string text = protocol_.text();
  for (const auto& [f, held] : held_) {
    text += "uses " + brief(f) + " of " + brief(held.rref) + "@" + std::to_string(held.owner) + ", child of " +
            brief(held.shared_of) + ", lineage " + std::to_string(held.lineage) +
            (held.is_creation ? " creation" : "") + (held.is_confirmed ? " confirmed" : "") +
            (held.is_given_up ? " given up" : "") + "\n";
  }
  for (const RRefId& r : values_) text += "uses its value " + brief(r) + "\n";
  return text;
}

}  // namespace distrun::rref::model

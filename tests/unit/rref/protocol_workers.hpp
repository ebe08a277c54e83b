#pragma once
// A few protocols and their messages in flight, for tests that check each step.
#include <catch2/catch.hpp>

#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <distrun/runtime/rref/protocol/fork_protocol.hpp>

namespace distrun::rref::testing {

class Workers {
 public:
  struct Sent {
    WorkerId from = -1;
    WorkerId to = -1;
    ForkMessage message;
  };

  explicit Workers(int count) {
    for (WorkerId id = 0; id < count; ++id) all_.push_back(std::make_unique<ForkProtocol>(id));
  }
  ForkProtocol& operator[](WorkerId id) { return *all_[static_cast<std::size_t>(id)]; }
  // Replaces the worker by another one with its id.
  void restart(WorkerId id) { all_[static_cast<std::size_t>(id)] = std::make_unique<ForkProtocol>(id); }

  // Returns the worker's effects since the last time, and sends its messages.
  Effects look(WorkerId id) {
    Effects effects = (*this)[id].take_effects();
    for (const auto& [to, message] : effects.sends) under_way_.push_back({id, to, message});
    return effects;
  }
  // Delivers the only message in flight, and returns its receiver's effects.
  std::pair<Sent, Effects> pass_on() {
    REQUIRE(under_way_.size() == 1);
    const Sent sent = under_way_.front();
    under_way_.pop_front();
    (*this)[sent.to].receive(sent.from, sent.message);
    return {sent, look(sent.to)};
  }
  // Delivers all messages in flight and those that follow.
  std::map<WorkerId, Effects> settle() {
    std::map<WorkerId, Effects> all;
    const auto add = [&](WorkerId id, Effects effects) {
      Effects& sum = all[id];
      sum.confirmed.insert(sum.confirmed.end(), effects.confirmed.begin(), effects.confirmed.end());
      sum.failed.insert(sum.failed.end(), effects.failed.begin(), effects.failed.end());
      sum.released.insert(sum.released.end(), effects.released.begin(), effects.released.end());
    };
    for (std::size_t id = 0; id < all_.size(); ++id) add(static_cast<WorkerId>(id), look(static_cast<WorkerId>(id)));
    while (!under_way_.empty()) {
      const Sent sent = under_way_.front();
      under_way_.pop_front();
      (*this)[sent.to].receive(sent.from, sent.message);
      add(sent.to, look(sent.to));
    }
    return all;
  }
  const std::deque<Sent>& under_way() const noexcept { return under_way_; }
  // Drops all messages in flight.
  void forget_under_way() { under_way_.clear(); }
  bool are_empty() const {
    for (const auto& each : all_) {
      const ForkCounts counts = each->counts();
      if (counts.owned + counts.forks + counts.users + counts.early != 0 || !counts.is_settled()) return false;
    }
    return true;
  }

  // Runs remote() by `caller`; returns its reference and fork. With the answer if `is_answered`.
  std::pair<RRefId, ForkId> create(WorkerId caller, WorkerId owner, bool is_answered = true) {
    const RRefId r = (*this)[caller].next_rref();
    const ForkId f = (*this)[caller].next_fork();
    (*this)[caller].begin_creation(r, f, owner);
    if (is_answered) {
      REQUIRE((*this)[owner].create(r, f, caller));
      (*this)[caller].confirm_creation(f);
      CHECK(look(caller).confirmed == std::vector<ForkId>{f});
    }
    return {r, f};
  }

 private:
  std::vector<std::unique_ptr<ForkProtocol>> all_;
  std::deque<Sent> under_way_;
};

}  // namespace distrun::rref::testing

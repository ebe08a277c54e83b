#pragma once
// A world of a few workers, driven through its protocol by a network that delivers what is under way in any order: what
// can happen next, what comes of it, and what must never come of it.
//
// A message that was lost is sent again by its sender, later; one that was doubled is there twice. An exchange (a
// message and its acknowledgement) has one such fault at most. Calls and answers arrive once, or are given back
// (Withdraw). A worker dies at any moment; each survivor hears of it at any later one, and of nothing that it has sent
// afterwards.
#include <optional>
#include <string>
#include <vector>

#include "model/pool.hpp"

namespace distrun::rref::model {

// How much may happen in all.
struct Bounds {
  int workers = 3;
  int references = 2;
  int shares = 3;
  int faults = 0;           // exchanges that have one
  int give_ups = 0;         // creations that are not waited for
  int withdraws = 0;        // calls with forks that are given back
  int losses = 0;           // workers that die: 0 or 1
  bool has_locals = false;  // values that their workers have made themselves
  bool shares_with_self = false;
};
std::string text(const Bounds& bounds);

// A message and its acknowledgement are one exchange.
std::uint32_t exchange_of(const Packet& packet);

struct State {
  std::vector<NodeId> nodes;
  std::vector<PacketId> flying;       // in order
  std::vector<std::uint32_t> faulty;  // exchanges that had their fault, in order
  std::vector<std::uint32_t> again;   // of these, those whose message was sent again
  std::uint8_t references = 0;        // made so far, and so on
  std::uint8_t shares = 0;
  std::uint8_t give_ups = 0;
  std::uint8_t withdraws = 0;
  std::int8_t dead = -1;
  std::uint8_t told = 0;  // who has heard of that, a bit each

  // All of it, as bytes.
  std::string key() const;
};

enum class ActionKind : std::uint8_t { Step, Duplicate, Vanish, SendAgain, Die };

struct Action {
  ActionKind kind{};
  StepKind step{};
  std::int8_t worker = -1;  // who takes the step
  std::int8_t to = -1;
  std::uint32_t what = 0;  // see StepKind; a packet
};

class World {
 public:
  explicit World(const Bounds& bounds) : bounds_(bounds) {}

  State first();
  // What can happen next. Nothing: it is over. `reduced`: without orders that can't make a difference.
  std::vector<Action> actions(const State& state, bool reduced);
  // What must not be is written to `violation`.
  State take(const State& state, const Action& action, std::string& violation);
  // Of a world that is over. Empty: nothing is wrong.
  std::string leftovers(const State& state) const;

  std::string text(const State& state, const Action& action) const;
  std::string text(const State& state) const;
  const Pool& pool() const noexcept { return pool_; }

 private:
  using Actions = std::vector<Action>;
  bool is_told(const State& state, WorkerId worker) const { return (state.told >> worker & 1) != 0; }
  bool may_send(const State& state, WorkerId from, WorkerId to) const;
  bool is_idle_ack(const State& state, const Packet& packet) const;
  bool add_idle_drop(const State& state, Actions& actions) const;
  void add_packet_actions(const State& state, PacketId id, Actions& actions) const;
  void add_uses(const State& state, WorkerId worker, Actions& actions) const;
  void add_creations(const State& state, WorkerId worker, Actions& actions) const;
  void add_shares(const State& state, WorkerId worker, StepKind kind, std::size_t what, Actions& actions) const;
  void add_sends_again(const State& state, WorkerId worker, Actions& actions);
  void add_loss(const State& state, WorkerId worker, Actions& actions) const;

  void take_step(State& state, const Action& action, std::string& violation);
  void count(State& state, StepKind step) const;
  void die(State& state, WorkerId worker) const;
  void check_outcome(const State& state, WorkerId worker, const Outcome& outcome, std::string& violation) const;
  void check_uses(const State& state, std::string& violation) const;
  bool is_broken(const State& state, unsigned lineage) const;
  std::string check_end(const State& state, ForkId ended) const;
  std::string check_release(const State& state, RRefId r) const;

  const Bounds bounds_;
  Pool pool_;
};

}  // namespace distrun::rref::model

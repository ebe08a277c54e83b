#pragma once
// A world of a few workers, driven through its protocol by a network that delivers packets in any order: the possible
// next actions, their results, and the violations.
//
// The sender sends a lost message again, later; a duplicated message arrives twice. An exchange (a message and its
// acknowledgement) has at most one such fault. Calls and answers arrive once, or are taken back (Withdraw). A worker
// may die at any moment; each survivor notices at any later moment, and then receives nothing more from it.
#include <optional>
#include <string>
#include <vector>

#include "model/pool.hpp"

namespace distrun::rref::model {

// Limits of what happens in total.
struct Bounds {
  int workers = 3;
  int references = 2;
  int shares = 3;
  int faults = 0;           // exchanges with a fault
  int give_ups = 0;         // creations that are given up
  int withdraws = 0;        // calls with forks that are taken back
  int losses = 0;           // workers that die: 0 or 1
  bool has_locals = false;  // values that workers create locally
  bool shares_with_self = false;
};
std::string text(const Bounds& bounds);

// A message and its acknowledgement are one exchange.
std::uint32_t exchange_of(const Packet& packet);

struct State {
  std::vector<NodeId> nodes;
  std::vector<PacketId> flying;       // sorted
  std::vector<std::uint32_t> faulty;  // exchanges that had their fault, sorted
  std::vector<std::uint32_t> again;   // those of them with a message that was sent again
  std::uint8_t references = 0;        // created so far; the next ones likewise
  std::uint8_t shares = 0;
  std::uint8_t give_ups = 0;
  std::uint8_t withdraws = 0;
  std::int8_t dead = -1;
  std::uint8_t told = 0;  // workers that have noticed the death, a bit each

  // Returns the whole state as bytes.
  std::string key() const;
};

enum class ActionKind : std::uint8_t { Step, Duplicate, Vanish, SendAgain, Die };

struct Action {
  ActionKind kind{};
  StepKind step{};
  std::int8_t worker = -1;  // the one that takes the step
  std::int8_t to = -1;
  std::uint32_t what = 0;  // see StepKind; a packet
};

class World {
 public:
  explicit World(const Bounds& bounds) : bounds_(bounds) {}

  State first();
  // Returns the possible next actions; none: the world has ended. `reduced`: omits orders that make no difference.
  std::vector<Action> actions(const State& state, bool reduced);
  // Writes a violation to `violation`.
  State take(const State& state, const Action& action, std::string& violation);
  // Checks a world that has ended. Empty: all is right.
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

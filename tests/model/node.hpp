#pragma once
// One worker of a model: its protocol, which is the code that runs in a session, and the references in use on it. It
// takes steps; an outcome is what a step sends and does to values.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <distrun/runtime/rref/protocol/fork_protocol.hpp>

#include "model/packet.hpp"

namespace distrun::rref::model {

enum class StepKind : std::uint8_t {
  Remote,      // a call to `to` with a result that stays there
  MakeLocal,   // a value of this worker
  ShareHeld,   // the `what`th of held() with `to`
  ShareValue,  // the `what`th of values() with `to`
  DropHeld,
  DropValue,
  GiveUp,    // gives up the creation of the `what`th of held()
  Deliver,   // receives a packet
  Withdraw,  // takes back a packet that could not be sent
  Lose,      // notices that `to` is gone
};

struct Outcome {
  struct Failed {
    ForkId fork;
    WorkerId owner = -1;
    unsigned lineage = 0;
  };
  std::vector<Packet> packets;
  std::vector<RRefId> released;
  std::vector<Failed> failed;   // forks that were in use
  std::vector<Failed> missing;  // forks that came to their owner, which has no value for them
  std::vector<ForkId> ended;    // forks for which the owner was sent a UserDelete
  std::string wrong;            // a violation that the worker can see itself; empty: none
};

class Node {
 public:
  // A fork in use here.
  struct Held {
    RRefId rref;
    WorkerId owner = -1;
    ForkId shared_of{};
    unsigned lineage = 0;
    bool is_creation = false;
    bool is_confirmed = false;
    bool is_given_up = false;  // can only be dropped
  };

  explicit Node(WorkerId self) : self_(self), protocol_(self) {}

  // `packet` is for Deliver and Withdraw.
  Outcome take(StepKind kind, WorkerId to, std::size_t what, const Packet& packet);

  WorkerId self() const noexcept { return self_; }
  const ForkProtocol& protocol() const noexcept { return protocol_; }
  const std::map<ForkId, Held>& held() const noexcept { return held_; }
  // Values that are in use on their owner.
  const std::set<RRefId>& values() const noexcept { return values_; }
  // Returns whether nothing is in use here, and the protocol keeps nothing.
  bool is_clean() const;
  // Describes the whole state: two nodes with the same text behave alike.
  std::string text() const;

 private:
  void remote(WorkerId owner, Outcome& outcome);
  void share_held(WorkerId to, std::size_t what, Outcome& outcome);
  void share_value(WorkerId to, std::size_t what, Outcome& outcome);
  void deliver(const Packet& packet, Outcome& outcome);
  void arrive(const Packet& packet, Outcome& outcome);
  void carry_out(Outcome& outcome);
  void check(Outcome& outcome) const;

  WorkerId self_;
  ForkProtocol protocol_;
  std::map<ForkId, Held> held_;
  std::set<RRefId> values_;
};

}  // namespace distrun::rref::model

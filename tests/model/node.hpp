#pragma once
// One worker of a model: its protocol, which is the code that runs in a session, and who uses what on it. It takes
// steps; what each sends and does to values is its outcome.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <distrun/runtime/rref/protocol/fork_protocol.hpp>

#include "model/packet.hpp"

namespace distrun::rref::model {

enum class StepKind : std::uint8_t {
  Remote,      // a call to `to` whose result stays there
  MakeLocal,   // a value of its own
  ShareHeld,   // the `what`th of held() with `to`
  ShareValue,  // the `what`th of values() with `to`
  DropHeld,
  DropValue,
  GiveUp,    // the creation of the `what`th of held()
  Deliver,   // a packet
  Withdraw,  // a packet that it has sent, and that was not
  Lose,      // `to` is gone
};

struct Outcome {
  struct Failed {
    ForkId fork;
    WorkerId owner = -1;
    unsigned lineage = 0;
  };
  std::vector<Packet> packets;
  std::vector<RRefId> released;
  std::vector<Failed> failed;   // of forks that were used
  std::vector<Failed> missing;  // forks that came to their owner, who has no value for them
  std::vector<ForkId> ended;    // forks whose end is told to the owner
  std::string wrong;            // whatever a worker can see for itself; empty: nothing
};

class Node {
 public:
  // A fork that somebody uses here.
  struct Held {
    RRefId rref;
    WorkerId owner = -1;
    ForkId shared_of{};
    unsigned lineage = 0;
    bool is_creation = false;
    bool is_confirmed = false;
    bool is_given_up = false;  // can't be used, only dropped
  };

  explicit Node(WorkerId self) : self_(self), protocol_(self) {}

  // `packet` of Deliver and Withdraw.
  Outcome take(StepKind kind, WorkerId to, std::size_t what, const Packet& packet);

  WorkerId self() const noexcept { return self_; }
  const ForkProtocol& protocol() const noexcept { return protocol_; }
  const std::map<ForkId, Held>& held() const noexcept { return held_; }
  // Used here by their owner.
  const std::set<RRefId>& values() const noexcept { return values_; }
  // Nobody uses anything here, and the protocol keeps nothing.
  bool is_clean() const;
  // All of it: two nodes with the same text behave alike.
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

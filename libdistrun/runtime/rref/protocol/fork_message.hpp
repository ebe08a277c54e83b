#pragma once
// What workers tell each other of references. A fork travels in a call or an answer; the messages travel by themselves
// (rpc::MessageKind::Reference), numbered by their sender for each receiver, and are sent again until they are
// acknowledged: they may come twice, late and in any order.
#include <cstdint>
#include <string>

#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/rref/protocol/id.hpp>

namespace distrun::rref {

// One more holder of a reference, as it travels.
struct Fork {
  RRefId rref;
  ForkId fork;
  WorkerId owner = -1;
  WorkerId parent = -1;  // who has shared it
  Incarnation owner_incarnation = 0;
  friend bool operator==(const Fork&, const Fork&) = default;
};
DISTRUN_FIELDS(Fork, m.rref, m.fork, m.owner, m.parent, m.owner_incarnation)

// The numbers are the wire's, and the first byte of a message.
enum class ForkMessageKind : std::uint8_t {
  ForkRequest = 1,  // holder to owner: I hold that fork
  ChildAccept = 2,  // holder to parent: the owner knows of the fork that you gave me, or never will
  UserDelete = 3,   // holder to owner: I don't hold it any more
  Ack = 4,          // of the message with that number
};

struct ForkMessage {
  ForkMessageKind kind{};
  std::uint64_t number = 0;
  RRefId rref{};      // ForkRequest, UserDelete
  ForkId fork{};      // of an Ack only where it is one of a ForkRequest, for which somebody waits
  std::string why{};  // Ack of a ForkRequest: what has become of the value; empty: it is there, or will be
  friend bool operator==(const ForkMessage&, const ForkMessage&) = default;
};
DISTRUN_FIELDS(ForkMessage, m.kind, m.number, m.rref, m.fork, m.why)

}  // namespace distrun::rref

#pragma once
// Messages between workers about references. A fork travels in a call or an answer. The messages below travel
// separately (rpc::MessageKind::Reference). The sender numbers them for each receiver, and resends them until they are
// acknowledged: they may arrive late, more than once and in any order.
#include <cstdint>
#include <string>

#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/rref/protocol/id.hpp>

namespace distrun::rref {

// One more holder of a reference, as it is sent.
struct Fork {
  RRefId rref;
  ForkId fork;
  WorkerId owner = -1;
  WorkerId parent = -1;  // the worker that shared it
  Incarnation owner_incarnation = 0;
  friend bool operator==(const Fork&, const Fork&) = default;
};
DISTRUN_FIELDS(Fork, m.rref, m.fork, m.owner, m.parent, m.owner_incarnation)

// The numbers are part of the wire format; the kind is the first byte of a message.
enum class ForkMessageKind : std::uint8_t {
  ForkRequest = 1,  // holder to owner: I hold this fork
  ChildAccept = 2,  // holder to parent: the owner has noted the fork that you shared with me, or never will
  UserDelete = 3,   // holder to owner: I no longer hold this fork
  Ack = 4,          // acknowledges the message with that number
};

struct ForkMessage {
  ForkMessageKind kind{};
  std::uint64_t number = 0;
  RRefId rref{};      // ForkRequest, UserDelete
  ForkId fork{};      // in an Ack only if it acknowledges a ForkRequest, whose sender waits for it
  std::string why{};  // Ack of a ForkRequest: why the value is lost; empty: it exists, or will
  friend bool operator==(const ForkMessage&, const ForkMessage&) = default;
};
DISTRUN_FIELDS(ForkMessage, m.kind, m.number, m.rref, m.fork, m.why)

}  // namespace distrun::rref

#pragma once
// A packet in flight between two workers of a model: calls and answers that carry forks, each of which arrives once or
// is taken back, and the protocol's messages, which may be lost and duplicated.
#include <string>

#include <distrun/runtime/rref/protocol/fork_message.hpp>

namespace distrun::rref::model {

struct Packet {
  enum class Kind : std::uint8_t {
    Create,   // a call with a result that stays on the callee
    Created,  // its answer
    Fork,     // a call or an answer that contains a fork
    Message,
  };
  Kind kind{};
  WorkerId from = -1;
  WorkerId to = -1;
  Fork fork{};            // all but Message
  ForkId shared_of{};     // Fork: held by the sender; none: the owner has shared its value
  unsigned lineage = 0;   // Fork: a bit for each worker that could remove the value by dying now
  ForkMessage message{};  // Message
};

// Describes the whole packet.
std::string text(const Packet& packet);

template <class Tag>
std::string brief(const GlobalId<Tag>& id) {
  return std::to_string(id.created_on) + "." + std::to_string(id.local_id);
}

}  // namespace distrun::rref::model

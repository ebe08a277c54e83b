#pragma once
// What is under way between two workers of a model: calls and answers that carry forks, each of which arrives once or
// is given back, and the protocol's own messages, which may be lost and doubled.
#include <string>

#include <distrun/runtime/rref/protocol/fork_message.hpp>

namespace distrun::rref::model {

struct Packet {
  enum class Kind : std::uint8_t {
    Create,   // a call whose result stays where it is made
    Created,  // its answer
    Fork,     // a call or an answer with a fork in it
    Message,
  };
  Kind kind{};
  WorkerId from = -1;
  WorkerId to = -1;
  Fork fork{};            // all but Message
  ForkId shared_of{};     // Fork: held by the sender; none: the owner has shared its value
  unsigned lineage = 0;   // Fork: whose end may take the value away before the owner knows of it, a bit each
  ForkMessage message{};  // Message
};

// All of it.
std::string text(const Packet& packet);

template <class Tag>
std::string brief(const GlobalId<Tag>& id) {
  return std::to_string(id.created_on) + "." + std::to_string(id.local_id);
}

}  // namespace distrun::rref::model

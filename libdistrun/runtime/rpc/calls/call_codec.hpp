#pragma once
// What a call says, and what an answer says, as the payload of a message. A callee's arguments are read by whoever runs
// it: what a plugin's own classes do to be read may take its time.
#include <memory>
#include <string>

#include <distrun/runtime/rpc/calls/callee.hpp>
#include <distrun/runtime/rpc/functions/graph.hpp>
#include <distrun/runtime/rpc/message.hpp>

namespace distrun::rpc {

// The numbers are the wire's.
enum class CalleeKind : std::uint8_t { Function = 1, Operator = 2, Graph = 3 };

// The beginning of a call.
struct CallHead {
  CalleeKind kind = CalleeKind::Function;
  bool runs_late = false;
  bool is_custom = false;  // arguments are what another serializer than the usual has made
  std::string name;
  std::string shown;  // as waits, stacks and traces name it; empty: by its name
  GraphHash graph_hash;
  std::shared_ptr<const GraphFunction> graph;  // null: the callee has it, by that hash
};

// Throws what the values' encoders throw. `message` gets payload and tensors.
void write_call(Message& message, const CallHead& head, const Arguments& arguments);

// Of whatever claims to be a call; lives until the process ends.
const char* callee_name(const Message& message) noexcept;

// Reads a call piece by piece. `message` must stay.
class CallReader {
 public:
  explicit CallReader(const Message& message, Instances instances = Instances::Read)
      : message_(message), bytes_(wire::view_of(message.payload)), instances_(instances) {}
  // Throws Error{InvalidArgument} for what no call is.
  CallHead read_head();
  Arguments read_arguments(const CallHead& head);

 private:
  const Message& message_;
  wire::ByteReader bytes_;
  const Instances instances_;
};

void write_reply(Message& message, const Value& value);
// Whether it can be read on the agent's thread: no class of a plugin is in it.
bool is_plain(const Message& reply) noexcept;
Value read_reply(const Message& message);

}  // namespace distrun::rpc

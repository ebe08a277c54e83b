#pragma once
// The payloads of calls and answers. The thread that runs a call decodes its arguments: plugins' decoders may be slow.
#include <memory>
#include <string>

#include <distrun/runtime/rpc/calls/callee.hpp>
#include <distrun/runtime/rpc/graph/graph.hpp>
#include <distrun/runtime/rpc/message.hpp>

namespace distrun::rpc {

// The numbers are part of the wire format.
enum class CalleeKind : std::uint8_t { Function = 1, Operator = 2, Graph = 3 };

// The first part of a call.
struct CallHead {
  CalleeKind kind = CalleeKind::Function;
  bool runs_late = false;
  bool is_custom = false;  // a serializer other than the default has encoded the arguments
  std::string name;
  std::string shown;  // name in waits, stacks and traces; empty: `name`
  GraphHash graph_hash;
  std::shared_ptr<const GraphFunction> graph;  // null: the callee knows the function with this hash
};

// Writes payload and tensors of `message`. Throws what the encoders of values throw.
void write_call(Message& message, const CallHead& head, const Arguments& arguments);

// Returns a name that lives until the process ends; accepts malformed calls.
const char* callee_name(const Message& message) noexcept;

// Reads a call in steps. `message` must outlive the reader.
class CallReader {
 public:
  explicit CallReader(const Message& message, Instances instances = Instances::Read)
      : message_(message), bytes_(wire::view_of(message.payload)), instances_(instances) {}
  // Throws Error{InvalidArgument} for a malformed call.
  CallHead read_head();
  Arguments read_arguments(const CallHead& head);

 private:
  const Message& message_;
  wire::ByteReader bytes_;
  const Instances instances_;
};

void write_reply(Message& message, const Value& value);
// Returns whether the agent's thread may decode it: it contains no objects of plugins' classes.
bool is_plain(const Message& reply) noexcept;
Value read_reply(const Message& message);

}  // namespace distrun::rpc

// A call or an answer of another worker, after a byte that selects which. Any input is refused, or stays the same when
// it is written and read again.
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/calls/call_codec.hpp>
#include <distrun/runtime/rpc/calls/error_codec.hpp>
#include <distrun/runtime/rpc/functions/register_class.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "fuzz.hpp"

namespace {

using namespace distrun;
using fuzz::require;

struct Box {
  std::string text;
};
[[maybe_unused]] const auto box = rpc::RegisterClass<Box>("Box").by_value(
    [](const Box& object) { return object.text; }, [](const std::string& text) { return Box{text}; });

rpc::Message message_of(const std::uint8_t* data, std::size_t size) {
  static const TensorList* const tensors = new TensorList{tensor::ones({2}), tensor::zeros({})};
  rpc::Message message;
  const auto* const bytes = reinterpret_cast<const std::byte*>(data);
  message.payload.assign(bytes, bytes + size);
  message.tensors = *tensors;
  return message;
}

struct Read {
  rpc::CallHead head;
  rpc::Arguments arguments;
};
Read read(const rpc::Message& message, rpc::Instances instances) {
  rpc::CallReader reader(message, instances);
  Read call;
  call.head = reader.read_head();
  call.arguments = reader.read_arguments(call.head);
  return call;
}

void take_call(const rpc::Message& message) {
  require(rpc::callee_name(message) != nullptr, "a call has a name to be shown");
  Read call;
  try {
    call = read(message, rpc::Instances::Read);
  } catch (const Error&) {
    return;
  }
  rpc::Message written;
  rpc::write_call(written, call.head, call.arguments);
  const Read again = read(written, rpc::Instances::Read);
  require(again.head.name == call.head.name && again.head.kind == call.head.kind, "a call keeps its callee");
  require(again.head.graph_hash == call.head.graph_hash, "a graph has its hash");
  require(again.arguments.positional.size() == call.arguments.positional.size(), "arguments are as many as they were");
  require(again.arguments.named.size() == call.arguments.named.size(), "named arguments are as many as they were");
  rpc::Message twice;
  rpc::write_call(twice, again.head, again.arguments);
  require(twice.payload == written.payload, "what was written is read");
}

void take_reply(const rpc::Message& message) {
  try {
    const rpc::Value value = rpc::read_reply(message);
    require(!rpc::is_plain(message) || !rpc::holds_instance(value), "a plain answer has no objects");
    rpc::Message written;
    rpc::write_reply(written, value);
    require(rpc::describe(rpc::read_reply(written)) == rpc::describe(value), "an answer is what it was");
  } catch (const Error&) {
    return;
  }
}

void take_error(wire::BytesView bytes) {
  try {
    wire::ByteReader reader(bytes);
    const std::exception_ptr error = rpc::read_error(reader);
    require(error != nullptr, "an error is one");
    require(rpc::error_of(error).remote_trace().has_value(), "an error says where it comes from");
  } catch (const Error&) {
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  switch (data[0] % 3) {
    case 0: take_call(message_of(data + 1, size - 1)); break;
    case 1: take_reply(message_of(data + 1, size - 1)); break;
    default: take_error(wire::view_of(data + 1, size - 1));
  }
  return 0;
}

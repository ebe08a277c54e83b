#include <distrun/runtime/rpc/calls/call_codec.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/calls/names.hpp>
#include <distrun/runtime/rpc/graph/codec.hpp>
#include <distrun/runtime/rpc/values/serializer.hpp>

namespace distrun::rpc {
namespace {

constexpr std::uint8_t kRunsLate = 1, kCustom = 2, kHasGraph = 4, kIsShown = 8;
constexpr std::size_t kArgumentsMax = 10'000;
constexpr std::size_t kLikelyTensors = 4;  // reserved at once

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorKind::InvalidArgument, text); }

// Returns positional arguments as a tuple and named ones as a map: for a test's own serializer.
Value as_value(const Arguments& arguments) {
  Map named;
  for (const auto& [name, value] : arguments.named) named.items.emplace_back(Value(std::string(name)), value);
  Tuple both;
  both.items.push_back(Value(Tuple{arguments.positional}));
  both.items.push_back(Value(std::move(named)));
  return Value(std::move(both));
}

Arguments from_custom(const Value& value) {
  auto [positional, named] = from_value<std::pair<Tuple, Map>>(value);
  Arguments arguments{std::move(positional.items), {}};
  for (auto& [name, each] : named.items) arguments.named.emplace_back(from_value<std::string>(name), std::move(each));
  return arguments;
}

// Writes bytes of another serializer; appends its tensors to those of the message.
void write_packed(wire::ByteWriter& bytes, TensorList& tensors, const Packed& packed) {
  bytes.number(static_cast<std::uint32_t>(tensors.size()));
  bytes.number(static_cast<std::uint32_t>(packed.tensors.size()));
  tensors.insert(tensors.end(), packed.tensors.begin(), packed.tensors.end());
  bytes.number(static_cast<std::uint32_t>(packed.bytes.size()));
  bytes.append(packed.bytes.data(), packed.bytes.size());
}

Packed read_packed(wire::ByteReader& bytes, const TensorList& tensors) {
  const auto first = bytes.number<std::uint32_t>();
  const auto count = bytes.number<std::uint32_t>();
#ifndef DISTRUN_FUZZ_PLANTED_BUG
  if (first > tensors.size() || count > tensors.size() - first)
    refuse("a message speaks of tensors that it does not have");
#else
  if (first > tensors.size()) refuse("a message speaks of tensors that it does not have");
#endif
  Packed packed;
  packed.tensors.assign(tensors.begin() + first, tensors.begin() + first + count);
  const std::string text = bytes.string();
  const auto* const data = reinterpret_cast<const std::byte*>(text.data());
  packed.bytes.assign(data, data + text.size());
  return packed;
}

bool is_custom_serializer() noexcept { return &current_serializer() != &default_serializer(); }

void write_arguments(wire::ByteWriter& bytes, TensorList& tensors, const Arguments& arguments) {
  ValueWriter values(bytes, tensors);
  tensors.reserve(tensors.size() + std::min(arguments.positional.size(), kLikelyTensors));
  bytes.number(static_cast<std::uint16_t>(arguments.positional.size()));
  for (const Value& each : arguments.positional) values.write(each);
  bytes.number(static_cast<std::uint16_t>(arguments.named.size()));
  for (const auto& [name, value] : arguments.named) {
    bytes.string(name);
    values.write(value);
  }
}

}  // namespace

void write_call(Message& message, const CallHead& head, const Arguments& arguments) {
  if (arguments.positional.size() + arguments.named.size() > kArgumentsMax) {
    refuse("a call has more than " + std::to_string(kArgumentsMax) + " arguments");
  }
  const bool is_custom = is_custom_serializer();
  wire::ByteWriter bytes;
  bytes.number(static_cast<std::uint8_t>(head.kind));
  bytes.number(static_cast<std::uint8_t>((head.runs_late ? kRunsLate : 0) | (is_custom ? kCustom : 0) |
                                         (head.graph != nullptr ? kHasGraph : 0) |
                                         (!head.shown.empty() ? kIsShown : 0)));
  bytes.string(head.name);
  if (!head.shown.empty()) bytes.string(head.shown);
  if (head.kind == CalleeKind::Graph) {
    bytes.number(head.graph_hash.high);
    bytes.number(head.graph_hash.low);
    if (head.graph != nullptr) write_packed(bytes, message.tensors, head.graph->encoded());
  }
  if (is_custom) {
    write_packed(bytes, message.tensors, current_serializer().pack(as_value(arguments)));
  } else {
    write_arguments(bytes, message.tensors, arguments);
  }
  message.payload = bytes.take();
}

const char* callee_name(const Message& message) noexcept {
  try {
    wire::ByteReader bytes(wire::view_of(message.payload));
    bytes.number<std::uint8_t>();  // the kind
    const auto flags = bytes.number<std::uint8_t>();
    const std::string name = bytes.string();
    return lasting_name((flags & kIsShown) != 0 ? bytes.string() : name);
  } catch (const std::exception&) {
    return "what is no call";
  }
}

CallHead CallReader::read_head() {
  CallHead head;
  const auto kind = bytes_.number<std::uint8_t>();
  if (kind < 1 || kind > static_cast<std::uint8_t>(CalleeKind::Graph)) {
    refuse("a call is of the unknown kind " + std::to_string(kind));
  }
  head.kind = static_cast<CalleeKind>(kind);
  const auto flags = bytes_.number<std::uint8_t>();
  head.runs_late = (flags & kRunsLate) != 0;
  head.is_custom = (flags & kCustom) != 0;
  head.name = bytes_.string();
  if ((flags & kIsShown) != 0) head.shown = bytes_.string();
  if (head.kind != CalleeKind::Graph) return head;
  head.graph_hash.high = bytes_.number<std::uint64_t>();
  head.graph_hash.low = bytes_.number<std::uint64_t>();
  if ((flags & kHasGraph) != 0) {
    const Packed packed = read_packed(bytes_, message_.tensors);
    head.graph = decode_graph(wire::view_of(packed.bytes), packed.tensors);
  }
  return head;
}

Arguments CallReader::read_arguments(const CallHead& head) {
  Arguments arguments;
  if (head.is_custom) {
    arguments = from_custom(current_serializer().unpack(read_packed(bytes_, message_.tensors)));
  } else {
    ValueReader values(bytes_, message_.tensors, instances_);
    const auto positional = bytes_.number<std::uint16_t>();
    arguments.positional.reserve(positional);
    for (int i = 0; i < positional; ++i) arguments.positional.push_back(values.read());
    const auto named = bytes_.number<std::uint16_t>();
    for (int i = 0; i < named; ++i) {
      std::string name = bytes_.string();
      arguments.named.emplace_back(std::move(name), values.read());
    }
  }
  bytes_.expect_end();
  return arguments;
}

// The first byte says whether the value contains objects of plugins' classes.
void write_reply(Message& message, const Value& value) {
  wire::ByteWriter bytes;
  bytes.number(static_cast<std::uint8_t>(holds_instance(value)));
  ValueWriter(bytes, message.tensors).write(value);
  message.payload = bytes.take();
}

bool is_plain(const Message& reply) noexcept {
  return !reply.payload.empty() && reply.payload.front() == std::byte{0} && !has_references(reply);
}

Value read_reply(const Message& message) {
  wire::ByteReader bytes(wire::view_of(message.payload));
  const bool is_plain = bytes.number<std::uint8_t>() == 0;
  ValueReader reader(bytes, message.tensors, is_plain ? Instances::Refused : Instances::Read);
  Value value = reader.read();
  bytes.expect_end();
  return value;
}

}  // namespace distrun::rpc

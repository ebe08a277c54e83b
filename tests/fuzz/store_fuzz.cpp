// A client's stream of frames to a store's server. Any input is executed or refused, and the table keeps its rules.
#include <optional>

#include <distrun/common/base/error.hpp>
#include <distrun/common/store_server/key_table.hpp>
#include <distrun/common/store_server/tcp_protocol.hpp>
#include <distrun/common/wire/frame.hpp>

#include "fuzz.hpp"

namespace {

using namespace distrun;
using fuzz::require;
using stores::Op;
using stores::StoreFrame;

std::optional<stores::Reply> run(stores::KeyTable& table, const stores::Request& request) {
  try {
    return table.run(request);
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool has(stores::KeyTable& table, const std::string& key) {
  const auto reply = run(table, {Op::Check, {key}, {}, 0});
  return reply && reply->number != 0;
}

void check(stores::KeyTable& table, const stores::Request& request, const stores::Reply& reply) {
  require(stores::name_of(request.op) != std::string("unknown"), "what is done has a name");
  switch (request.op) {
    case Op::Set:
      require(run(table, {Op::Get, request.keys, {}, 0})->values == request.values, "what was set is got");
      break;
    case Op::Delete: require(!has(table, request.keys[0]), "what was deleted is not there"); break;
    case Op::Add:
      require(run(table, {Op::Get, request.keys, {}, 0})->values[0] == std::to_string(reply.number), "a sum is stored");
      break;
    case Op::MultiGet:
      require(!reply.is_ready || reply.values.size() == request.keys.size(), "each key has a value");
      break;
    case Op::NumKeys:
      require(reply.number >= 0 && reply.number <= std::int64_t{stores::kKeys}, "keys are bounded");
      break;
    default: break;
  }
}

void take(stores::KeyTable& table, const wire::Frame& frame) {
  try {
    if (frame.is(StoreFrame::Cancel)) return void(wire::decode<stores::Cancel>(wire::view_of(frame.payload)));
    if (!frame.is(StoreFrame::Ask)) return void(wire::decode<stores::FollowKey>(wire::view_of(frame.payload)));
    const auto ask = wire::decode<stores::Ask>(wire::view_of(frame.payload));
    const auto reply = run(table, ask.request);
    if (reply) check(table, ask.request, *reply);
  } catch (const Error&) {
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  wire::FrameSplitter splitter(wire::kProtocol<StoreFrame>);
  splitter.feed(wire::view_of(data, size));
  stores::KeyTable table;
  try {
    while (const auto frame = splitter.next()) take(table, *frame);
  } catch (const Error&) {
    return 0;  // the connection ends
  }
  return 0;
}

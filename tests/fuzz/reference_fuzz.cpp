// Data on references from another worker or a rank's page, after a byte that selects which. Any input is refused, or
// stays the same when it is written and read again; and a protocol that receives it stays consistent.
#include <distrun/common/base/error.hpp>
#include <distrun/common/ledger/ledger.hpp>
#include <distrun/runtime/rref/owned_value.hpp>
#include <distrun/runtime/rref/protocol/fork_protocol.hpp>

#include "fuzz.hpp"

namespace {

using namespace distrun;
using fuzz::require;
using rref::ForkMessage;
using rref::ForkMessageKind;

template <class T>
bool is_read_as_written(wire::BytesView bytes) {
  T read;
  try {
    read = wire::decode<T>(bytes);
  } catch (const Error&) {
    return false;
  }
  const wire::Bytes written = wire::encode(read);
  require(wire::encode(wire::decode<T>(wire::view_of(written))) == written, "what was written is read");
  return true;
}

// Two bytes per message: kind, and reference; the protocol has an entry of each kind.
void hear(const std::uint8_t* data, std::size_t size) {
  rref::ForkProtocol protocol(0);
  const rref::RRefId own = protocol.next_rref();
  const rref::Fork held_by_2 = protocol.share_owned(own, 2);
  const rref::Fork held{{2, 0}, {2, 1}, 2, 2};
  protocol.arrive(held);
  protocol.share_held(held.fork, 3);
  for (std::size_t i = 0; i + 1 < size; i += 2) {
    const ForkMessage message{static_cast<ForkMessageKind>(1 + data[i] % 4),
                              static_cast<std::uint64_t>(i / 2 + data[i] / 64),
                              {data[i + 1] % 3, data[i + 1] / 3 % 4},
                              {data[i] / 4 % 3, data[i + 1] / 12 % 4},
                              data[i + 1] > 200 ? "it is gone" : ""};
    if (message.kind != ForkMessageKind::Ack || data[i + 1] % 2 == 0) protocol.receive(1, message);
    if (data[i] == 255) protocol.lose(1, "it is gone");
    protocol.take_effects();
    require(protocol.contradiction().empty(), "the protocol contradicts itself");
    require(protocol.is_noted(own, held_by_2.fork), "a peer ends what another holds");
    require(protocol.is_held(held.fork), "a peer ends what is held here");
  }
  require(protocol.text() != "", "it can be looked at");
}

void take_page(wire::BytesView bytes) {
  try {
    const auto page = wire::decode<ledger::Page>(bytes);
    for (const auto& cycle : ledger::cycles_of({page})) require(!cycle.empty(), "a cycle has references");
  } catch (const Error&) {
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const wire::BytesView bytes = wire::view_of(data + 1, size - 1);
  switch (data[0] % 4) {
    case 0: is_read_as_written<ForkMessage>(bytes); break;
    case 1:
      is_read_as_written<rref::Fork>(bytes);
      is_read_as_written<rref::OwnedSection>(bytes);
      break;
    case 2: take_page(bytes); break;
    default: hear(data + 1, size - 1);
  }
  return 0;
}

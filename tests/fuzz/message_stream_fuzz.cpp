// Messages as a peer writes them into its ring, after a byte that tells the size of the pieces. Any stream is refused,
// or its messages stay the same when they are written and read again, and their tensors are within their memory.
#include <cstring>
#include <optional>

#include <agents/pipe/message_stream.hpp>
#include <distrun/common/base/error.hpp>

#include "../unit/pipe/fake_stream.hpp"
#include "fuzz.hpp"

namespace {

using namespace distrun;
using namespace distrun::agents::pipe;
using fuzz::require;
using testing::FakeStream;

constexpr StreamLimits kLimits{1 << 16, 1 << 16, 1 << 20};

void read_nothing(std::uint64_t address, std::byte* to, std::size_t bytes) {
  if (address == 0) throw Error(ErrorKind::Disconnected, "the peer is gone");
  std::memset(to, 0, bytes);
}

// Reads the first and the last of its elements.
void touch(const Tensor& tensor) {
  if (tensor.numel() == 0) return;
  const std::size_t element = size_of(tensor.dtype());
  const std::byte *first = tensor.data(), *last = tensor.data();
  for (std::size_t i = 0; i < tensor.sizes().size(); ++i) {
    const auto reach = (tensor.sizes()[i] - 1) * tensor.strides()[i] * static_cast<std::int64_t>(element);
    (reach < 0 ? first : last) += reach;
  }
  const auto& storage = *tensor.strided().storage();
  require(first >= storage.data() && last + element <= storage.data() + storage.bytes(), "tensors lie in their memory");
  volatile std::byte seen = *first;
  seen = last[element - 1];
  (void)seen;
}

void write_again(rpc::Message message) {
  const std::size_t payload = message.payload.size();
  const TensorList tensors = message.tensors;
  OutgoingMessage outgoing(std::move(message), 0);
  outgoing.set_number(0);
  FakeStream stream;
  require(outgoing.write_to(stream), "a message is written where there is room");
  IncomingMessages incoming;
  const auto arrived = incoming.next(stream);
  require(arrived.has_value() && !incoming.next(stream), "what was written is read, and nothing more");
  require(arrived->message.payload.size() == payload, "a payload is what it was");
  require(arrived->message.tensors.size() == tensors.size(), "tensors are as many as they were");
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    require(arrived->message.tensors[i].sizes() == tensors[i].sizes(), "tensors have the sizes that they had");
  }
}

std::optional<IncomingMessages::Arrived> next(IncomingMessages& incoming, FakeStream& stream) {
  for (;;) {
    if (auto arrived = incoming.next(stream)) return arrived;
    if (stream.begin + stream.allowed >= stream.bytes.size()) return std::nullopt;
    stream.allowed += stream.piece_max;
  }
}

void take(FakeStream& stream) {
  IncomingMessages incoming(read_nothing, kLimits);
  for (;;) {
    std::optional<IncomingMessages::Arrived> arrived;
    try {
      arrived = next(incoming, stream);
    } catch (const Error&) {
      return;
    }
    if (!arrived) return;
    for (const Tensor& each : arrived->message.tensors) touch(each);
    write_again(std::move(arrived->message));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  FakeStream stream;
  const auto* const bytes = reinterpret_cast<const std::byte*>(data);
  stream.bytes.assign(bytes + 1, bytes + size);
  stream.allowed = 0;
  stream.piece_max = std::max<std::size_t>(sizeof(MessageHead), std::size_t{data[0]} * 4);
  take(stream);
  return 0;
}

// Messages as a stream of bytes, in pieces of any size.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <agents/pipe/message_stream.hpp>
#include <agents/pipe/transports/cma.hpp>
#include <agents/pipe/transports/shm_stream.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/views.hpp>

#include "fake_stream.hpp"
#include "support/skip.hpp"

namespace distrun::agents::pipe {
namespace {

using rpc::Message;
using rpc::MessageKind;
using rpc::Section;
using rpc::SectionTag;
using testing::FakeStream;

wire::Bytes bytes_of(const std::string& text) {
  const auto* const data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

Message message_of(std::uint64_t id, const std::string& payload, TensorList tensors = {}) {
  Message message;
  message.kind = MessageKind::Reply;
  message.id = id;
  message.payload = bytes_of(payload);
  message.tensors = std::move(tensors);
  return message;
}

// Returns a message with a deadline, sections, and tensors that are views, empty, and of separate memory.
Message rich_message() {
  const Tensor base = tensor::view(tensor::arange(24), {4, 6});
  Message message = message_of(7, "payload",
                               {base, tensor::select_view(base, 1, 2), tensor::ones({3}), tensor::zeros({0, 2}),
                                tensor::transpose(base, 0, 1), tensor::full({}, 3)});
  message.left = std::chrono::milliseconds(1500);
  message.sections = {{SectionTag::TraceParent, bytes_of("0.1/2")}, {static_cast<SectionTag>(200), bytes_of("")}};
  return message;
}

void check_equal(const Message& found, const Message& expected) {
  CHECK(found.left == expected.left);
  CHECK(found.payload == expected.payload);
  REQUIRE(found.sections.size() == expected.sections.size());
  for (std::size_t i = 0; i < found.sections.size(); ++i) {
    CHECK(found.sections[i].tag == expected.sections[i].tag);
    CHECK(found.sections[i].bytes == expected.sections[i].bytes);
  }
  REQUIRE(found.tensors.size() == expected.tensors.size());
  for (std::size_t i = 0; i < found.tensors.size(); ++i) {
    const Tensor &is = found.tensors[i], &was = expected.tensors[i];
    CHECK(is.dtype() == was.dtype());
    CHECK(is.sizes() == was.sizes());
    CHECK(is.strides() == was.strides());
    CHECK(tensor::to_vector<double>(tensor::to(is, tensor::DType::F64)) ==
          tensor::to_vector<double>(tensor::to(was, tensor::DType::F64)));
  }
}

void write(FakeStream& stream, Message message, std::uint64_t number, std::size_t cma_from = 0) {
  OutgoingMessage outgoing(std::move(message), cma_from);
  outgoing.set_number(number);
  REQUIRE(outgoing.write_to(stream));
}

std::string refusal(IncomingMessages& incoming, Stream& stream) {
  try {
    while (incoming.next(stream)) {
    }
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::InvalidArgument);
    return error.text();
  }
  return "nothing";
}
std::string refusal(Stream& stream) {
  IncomingMessages incoming;
  return refusal(incoming, stream);
}

TEST_CASE("messages are read as they were written, in order") {
  FakeStream stream;
  write(stream, message_of(1, ""), 0);
  write(stream, rich_message(), 1);
  OutgoingMessage leave = OutgoingMessage::own(kLeave, 0);
  leave.set_number(2);
  CHECK(leave.write_to(stream));
  IncomingMessages incoming;
  auto first = incoming.next(stream);
  REQUIRE(first);
  CHECK(first->kind == static_cast<std::uint8_t>(MessageKind::Reply));
  CHECK(first->message.id == 1);
  CHECK(first->message.payload.empty());
  auto second = incoming.next(stream);
  REQUIRE(second);
  CHECK(second->message.id == 7);
  CHECK(second->number == 1);
  CHECK_FALSE(second->was_read_from_peer);
  check_equal(second->message, rich_message());
  const TensorList& tensors = second->message.tensors;
  CHECK(tensors[0].strided().storage() == tensors[1].strided().storage());
  CHECK(tensors[0].strided().storage() != tensors[2].strided().storage());
  auto third = incoming.next(stream);
  REQUIRE(third);
  CHECK(third->kind == kLeave);
  CHECK_FALSE(incoming.next(stream));
}

TEST_CASE("messages arrive complete, however few bytes are available at a time") {
  FakeStream source;
  write(source, rich_message(), 0);
  write(source, message_of(2, std::string(3000, 'x'), {tensor::arange(500)}), 1);
  write(source, rich_message(), 2);
  for (const std::size_t piece : {1, 2, 7, 64, 1000, 5000}) {
    FakeStream stream;
    stream.bytes = source.bytes;
    stream.allowed = 0;
    IncomingMessages incoming;
    std::vector<IncomingMessages::Arrived> arrived;
    while (stream.begin + stream.allowed < stream.bytes.size()) {
      stream.allowed += piece;
      while (auto each = incoming.next(stream)) arrived.push_back(std::move(*each));
    }
    REQUIRE(arrived.size() == 3);
    check_equal(arrived[0].message, rich_message());
    CHECK(arrived[1].message.tensors.at(0).data_as<std::int64_t>()[499] == 499);
    check_equal(arrived[2].message, rich_message());
  }
}

TEST_CASE("messages are written completely, however little free space there is") {
  FakeStream source;
  write(source, rich_message(), 5);
  for (const std::size_t room : {1, 3, 100}) {
    FakeStream stream;
    OutgoingMessage outgoing(rich_message(), 0);
    outgoing.set_number(5);
    CHECK_FALSE(outgoing.is_begun());
    stream.room = room;
    while (!outgoing.write_to(stream)) {
      CHECK(outgoing.is_begun());
      stream.room = room;
    }
    CHECK(stream.bytes == source.bytes);
  }
}

TEST_CASE("more tensors than a write takes parts are written, too") {
  Message message = message_of(1, "");
  for (int i = 0; i < 300; ++i) message.tensors.push_back(tensor::full({1 + i % 3}, i));
  FakeStream stream;
  stream.room = 100;
  OutgoingMessage outgoing(message, 0);
  while (!outgoing.write_to(stream)) stream.room = 100;
  IncomingMessages incoming;
  const auto arrived = incoming.next(stream);
  REQUIRE(arrived);
  check_equal(arrived->message, message);
}

TEST_CASE("messages go through a ring that is smaller than they are") {
  auto memfd = RingPair::make_memfd();
  ShmStream one(std::make_unique<RingPair>(base::Fd(::dup(memfd.get())), true), std::make_unique<Door>());
  ShmStream two(std::make_unique<RingPair>(std::move(memfd), false), std::make_unique<Door>());
  IncomingMessages incoming;
  for (std::uint64_t number = 0; number < 20; ++number) {
    const Message message = message_of(number, std::string(100'000 + number, 'x'), {tensor::arange(50'001)});
    OutgoingMessage outgoing(message, 0);
    outgoing.set_number(number);
    std::optional<IncomingMessages::Arrived> arrived;
    for (bool is_written = false; !arrived;) {
      if (!is_written) is_written = outgoing.write_to(one);
      arrived = incoming.next(two);
    }
    REQUIRE(arrived->message.id == number);
    REQUIRE(arrived->message.payload == message.payload);
    REQUIRE(arrived->message.tensors[0].data_as<std::int64_t>()[50'000] == 50'000);
  }
}

TEST_CASE("a wrong sequence number breaks the stream") {
  FakeStream stream;
  write(stream, message_of(1, ""), 0);
  write(stream, message_of(1, ""), 2);
  CHECK(refusal(stream) == "a pipe message is malformed: its number is 2, expected 1");
}

FakeStream with_head(const MessageHead& head, const wire::Bytes& rest = {}) {
  const auto* const data = reinterpret_cast<const std::byte*>(&head);
  wire::Bytes bytes(data, data + sizeof head);
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  return FakeStream(std::move(bytes));
}

TEST_CASE("an invalid message head is refused before any memory is allocated for it") {
  const std::string broken = "a pipe message is malformed: ";
  FakeStream noise;
  noise.bytes = bytes_of(std::string(100, 'x'));
  CHECK(refusal(noise) == broken + "its marker is missing");
  MessageHead head;
  head.table_bytes = (4 << 20) + 1;
  FakeStream table = with_head(head);
  CHECK(refusal(table) == broken + "its table has 4194305 bytes");
  head = {};
  head.payload_bytes = (std::uint64_t{1} << 30) + 1;
  FakeStream payload = with_head(head);
  CHECK(refusal(payload) == broken + "its payload has 1073741825 bytes");
  head = {};
  head.memory_bytes = ~std::uint64_t{0};
  FakeStream memory = with_head(head);
  CHECK(refusal(memory) == broken + "its tensors have 18446744073709551615 bytes");
  head.memory_bytes = 8;
  FakeStream lone = with_head(head);
  CHECK(refusal(lone) == broken + "it has tensor data but no table");
}

// The table of a message with one memory block and the shape of one tensor in it.
struct TableOf {
  TableOf(std::uint64_t bytes_ = 8, std::uint8_t place_ = 0, std::uint8_t dtype_ = 5, std::uint8_t flags_ = 1,
          std::uint32_t span_ = 0, std::vector<std::int64_t> sizes_ = {1}, std::vector<std::int64_t> more_ = {})
      : bytes(bytes_),
        place(place_),
        dtype(dtype_),
        flags(flags_),
        span(span_),
        sizes(std::move(sizes_)),
        more(std::move(more_)) {}

  std::uint64_t bytes;
  std::uint8_t place, dtype, flags;
  std::uint32_t span;
  std::vector<std::int64_t> sizes, more;  // followed by the offset and strides
};

FakeStream with_table(const TableOf& table, std::uint64_t follows) {
  wire::ByteWriter bytes;
  bytes.number(std::uint8_t{0});
  bytes.number(std::uint32_t{1});
  bytes.number(table.place);
  bytes.number(table.bytes);
  if (table.place == 1) bytes.number(std::uint64_t{16});
  bytes.number(std::uint32_t{1});
  bytes.number(table.dtype);
  bytes.number(table.flags);
  bytes.number(static_cast<std::uint8_t>(table.sizes.size()));
  bytes.number(table.span);
  for (const std::int64_t each : table.sizes) bytes.number(each);
  for (const std::int64_t each : table.more) bytes.number(each);
  wire::Bytes rest = bytes.take();
  MessageHead head;
  head.table_bytes = static_cast<std::uint32_t>(rest.size());
  head.memory_bytes = follows;
  rest.insert(rest.end(), 64, std::byte{0});
  return with_head(head, rest);
}

TEST_CASE("a table that does not fit its memory is refused") {
  const auto refused = [](const TableOf& table, std::uint64_t follows = 8) {
    FakeStream stream = with_table(table, follows);
    return refusal(stream);
  };
  const std::string broken = "a pipe message is malformed: ";
  FakeStream good = with_table({}, 8);
  IncomingMessages incoming;
  REQUIRE(incoming.next(good));
  CHECK(refused({}, 9) == broken + "its table does not match the memory that follows");
  CHECK(refused({8, 0, 8}) == broken + "a tensor has the unknown dtype 8");
  CHECK(refused({8, 0, 5, 1, 1}) == broken + "a tensor refers to a missing memory range");
  CHECK(refused({8, 0, 5, 1, 0, std::vector<std::int64_t>(65, 1)}) == broken + "a tensor has 65 dimensions");
  CHECK(refused({8, 1}, 0) == broken + "it requires a direct read of the peer's memory, which was not negotiated");
  CHECK_THAT(refused({std::uint64_t{1} << 41, 1}, 0), Catch::StartsWith(broken + "a memory range has "));
  constexpr std::int64_t kHuge = std::int64_t{1} << 61;
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{2}, {-1}, {-1, -1}, {kHuge + 1}, {kHuge, kHuge}, {0, -1}, {8, kHuge + 1}}) {
    CHECK(refused({8, 0, 5, 1, 0, sizes}) != "nothing");
    std::vector<std::int64_t> strided{0};
    strided.insert(strided.end(), sizes.size(), 1);
    CHECK(refused({8, 0, 5, 0, 0, sizes, strided}) != "nothing");
  }
  CHECK(refused({8, 0, 5, 0, 0, {1}, {1, 1}}) != "nothing");   // its offset is beyond the end
  CHECK(refused({8, 0, 5, 0, 0, {1}, {-1, 1}}) != "nothing");  // and before the start
  CHECK(refused({8, 0, 5, 1, 0, {1}, {0}}) == "8 bytes too many at the end of a message");
}

TEST_CASE("too many sections are refused") {
  wire::ByteWriter bytes;
  bytes.number(std::uint8_t{33});
  for (int i = 0; i < 33; ++i) {
    bytes.number(std::uint8_t{200});
    bytes.number(std::uint32_t{0});
  }
  bytes.append("\0\0\0\0\0\0\0\0", 8);
  const wire::Bytes rest = bytes.take();
  MessageHead head;
  head.table_bytes = static_cast<std::uint32_t>(rest.size());
  FakeStream stream = with_head(head, rest);
  CHECK(refusal(stream) == "a pipe message is malformed: it has 33 sections");
}

TEST_CASE("a message that the receiver would refuse is refused by the sender") {
  Message sections = message_of(1, "");
  sections.sections.assign(33, {static_cast<SectionTag>(200), {}});
  CHECK_THROWS_AS(OutgoingMessage(sections, 0), Error);
  Message table = message_of(1, "");
  table.sections.push_back({static_cast<SectionTag>(200), wire::Bytes(5 << 20)});
  CHECK_THROWS_AS(OutgoingMessage(table, 0), Error);
  Message many = message_of(1, "");
  const Tensor one = tensor::ones({1});
  for (int i = 0; i < 300'000; ++i) many.tensors.push_back(tensor::alias(one));
  CHECK_THROWS_AS(OutgoingMessage(many, 0), Error);
  Message payload = message_of(1, "");
  payload.payload.resize((std::size_t{1} << 30) + 1);
  CHECK_THROWS_AS(OutgoingMessage(std::move(payload), 0), Error);
}

TEST_CASE("large memory is read out of the peer, and an acknowledgement is due") {
  const Offer offer = cma_offer();
  distrun::testing::skip_case_if(!offer.why_not.empty(), offer.why_not);
  const Tensor large = tensor::arange(10'000), small = tensor::arange(3);
  FakeStream stream;
  OutgoingMessage outgoing(
      message_of(1, "x", {small, large, tensor::select_view(tensor::view(large, {100, 100}), 1, 3)}), 64 << 10);
  outgoing.set_number(0);
  CHECK(outgoing.is_read_by_peer());
  CHECK(outgoing.write_to(stream));
  CHECK(stream.bytes.size() < 1000);
  IncomingMessages incoming(
      [](std::uint64_t address, std::byte* to, std::size_t bytes) { read_remote(::getpid(), address, to, bytes); });
  const auto arrived = incoming.next(stream);
  REQUIRE(arrived);
  CHECK(arrived->was_read_from_peer);
  CHECK(tensor::to_vector<std::int64_t>(arrived->message.tensors[0]) == std::vector<std::int64_t>{0, 1, 2});
  CHECK(tensor::to_vector<std::int64_t>(arrived->message.tensors[1]) == tensor::to_vector<std::int64_t>(large));
  CHECK(arrived->message.tensors[2].strides() == Dims{100});
  CHECK_FALSE(OutgoingMessage(message_of(1, "", {large}), 0).is_read_by_peer());
}

TEST_CASE("the end of a stream is reported once all data before it is read") {
  FakeStream stream;
  write(stream, message_of(1, "abc"), 0);
  stream.ends = true;
  IncomingMessages incoming;
  CHECK(incoming.next(stream));
  CHECK_THROWS_WITH(incoming.next(stream), "the peer closed the connection");
}

}  // namespace
}  // namespace distrun::agents::pipe

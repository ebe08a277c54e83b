// Messages that arrive without their data: withdrawn calls, and messages too large for the memory.
#include <catch2/catch.hpp>

#include <malloc.h>

#include <agents/pipe/message_stream.hpp>
#include <agents/pipe/transports/cma.hpp>
#include <distrun/common/base/sanitizer.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "fake_stream.hpp"
#include "no_room.hpp"
#include "support/skip.hpp"
#include "unit/support/limits.hpp"

namespace distrun::agents::pipe {
namespace {

using rpc::MessageKind;
using testing::FakeStream;

rpc::Message call_of(std::uint64_t id, std::size_t payload, TensorList tensors) {
  rpc::Message message;
  message.id = id;
  message.payload.resize(payload);
  message.tensors = std::move(tensors);
  return message;
}

// Returns the bytes that this process has allocated.
std::size_t allocated_bytes() {
  const auto all = ::mallinfo2();
  return all.uordblks + all.hblkhd;
}

std::vector<std::int64_t> numbers_of(const Tensor& tensor) { return tensor::to_vector<std::int64_t>(tensor); }

}  // namespace

TEST_CASE("a call that is withdrawn before any of it was written arrives with its sections only") {
  const bool is_rich = GENERATE(false, true);
  rpc::Message call = call_of(7, 100, is_rich ? TensorList{tensor::arange(1000)} : TensorList{});
  if (is_rich) {
    call.left = std::chrono::milliseconds(1500);
    call.kept_until = base::system_clock().now();
    call.sections = {{rpc::SectionTag::References, wire::Bytes(300)}, {rpc::SectionTag::TraceParent, {}}};
  }
  OutgoingMessage outgoing(std::move(call), GENERATE(0, 1000));
  const std::uint64_t before = outgoing.queued_bytes();
  CHECK(outgoing.withdraw());
  CHECK_FALSE(outgoing.is_read_by_peer());
  CHECK(outgoing.queued_bytes() < before);
  FakeStream stream;
  stream.piece_max = GENERATE(std::size_t{50}, std::size_t{10'000});
  CHECK(outgoing.write_to(stream));
  IncomingMessages incoming;
  std::optional<IncomingMessages::Arrived> arrived;
  while (!arrived && stream.begin != stream.bytes.size()) arrived = incoming.next(stream);
  REQUIRE(arrived);
  CHECK(arrived->message.id == 7);
  CHECK(arrived->message.unreadable == "its caller timed out before it was sent");
  CHECK(arrived->message.is_late);
  CHECK(arrived->message.tensors.empty());
  CHECK(arrived->message.payload.empty());
  REQUIRE(arrived->message.sections.size() == (is_rich ? 2 : 0));
  if (is_rich) CHECK(arrived->message.sections[0].bytes.size() == 300);
  CHECK(arrived->message.left.has_value() == is_rich);
}

TEST_CASE("a call that is withdrawn while it is written arrives as it was at that moment") {
  const Tensor sent = tensor::arange(1000);
  FakeStream stream;
  stream.room = 2000;
  OutgoingMessage outgoing(call_of(1, 100, {sent, tensor::arange(3)}), 0);
  CHECK_FALSE(outgoing.write_to(stream));
  CHECK(outgoing.withdraw());
  tensor::copy_(sent, tensor::zeros({1000}, {tensor::DType::I64, {}}));
  stream.room = 100'000;
  CHECK(outgoing.write_to(stream));
  IncomingMessages incoming;
  const auto arrived = incoming.next(stream);
  REQUIRE(arrived);
  CHECK(arrived->message.unreadable.empty());
  CHECK(numbers_of(arrived->message.tensors[0]) == numbers_of(tensor::arange(1000)));
  CHECK(numbers_of(arrived->message.tensors[1]) == numbers_of(tensor::arange(3)));
}

TEST_CASE("a call that is withdrawn before any of it was written frees its memory") {
  distrun::testing::skip_case_if(base::kSanitized, "a sanitizer's allocator does not count");
  constexpr std::size_t kPayload = 64 << 20, kTable = 1 << 20;
  rpc::Message call = call_of(1, kPayload, {});
  call.sections = {{rpc::SectionTag::References, wire::Bytes(100)}};
  for (int i = 0; i < 50'000; ++i) call.tensors.push_back(tensor::arange(1));
  OutgoingMessage outgoing(std::move(call), 0);
  CHECK(outgoing.queued_bytes() > kPayload + kTable);
  const std::size_t before = allocated_bytes();
  CHECK(outgoing.withdraw());
  CHECK(outgoing.queued_bytes() < 1000);
  CHECK(before - allocated_bytes() >= kPayload + kTable);
}

TEST_CASE("tensors of a half-sent call that have been written whole are not copied when it is withdrawn") {
  distrun::testing::skip_case_if(base::kSanitized, "a sanitizer maps terabytes");
  constexpr std::int64_t kLarge = 5'000'000;
  const Tensor last = tensor::arange(1000);
  OutgoingMessage outgoing(call_of(1, 100, {tensor::arange(kLarge), last}), 0);
  FakeStream stream;
  stream.room = kLarge * sizeof(std::int64_t) + 2000;
  CHECK_FALSE(outgoing.write_to(stream));
  bool is_withdrawn = false;
  {
    const testing::NoRoomFor none(kLarge * sizeof(std::int64_t));
    is_withdrawn = outgoing.withdraw();
  }
  REQUIRE(is_withdrawn);
  tensor::copy_(last, tensor::zeros({1000}, {tensor::DType::I64, {}}));
  stream.room = 100'000;
  CHECK(outgoing.write_to(stream));
  IncomingMessages incoming;
  const auto arrived = incoming.next(stream);
  REQUIRE(arrived);
  CHECK(numbers_of(arrived->message.tensors[0]).back() == kLarge - 1);
  CHECK(numbers_of(arrived->message.tensors[1]) == numbers_of(tensor::arange(1000)));
}

// Sanitizers map terabytes.
TEST_CASE("a call is withdrawn without memory if none of it was written, and must not be sent further if a part was") {
  distrun::testing::skip_case_if(base::kSanitized, "a sanitizer");
  const bool is_begun = GENERATE(false, true);
  OutgoingMessage outgoing(call_of(1, 100, {tensor::arange(5'000'000)}), 0);
  FakeStream stream;
  stream.room = is_begun ? 2000 : 0;
  CHECK_FALSE(outgoing.write_to(stream));
  const std::uint64_t before = outgoing.queued_bytes();
  bool is_withdrawn = false;
  {
    const testing::NoRoomFor none(5'000'000 * sizeof(std::int64_t));
    is_withdrawn = outgoing.withdraw();
  }
  CHECK(is_withdrawn == !is_begun);
  CHECK((outgoing.queued_bytes() == before) == is_begun);
}

TEST_CASE("memory that was read out of a caller that has timed out is not delivered") {
  const Offer offer = cma_offer();
  distrun::testing::skip_case_if(!offer.why_not.empty(), offer.why_not);
  const bool is_late = GENERATE(false, true);
  const Tensor large = tensor::arange(10'000);
  rpc::Message call = call_of(1, 10, {large});
  call.kept_until = base::system_clock().now() + std::chrono::hours(is_late ? -1 : 1);
  OutgoingMessage outgoing(std::move(call), 64 << 10);
  FakeStream stream;
  CHECK(outgoing.write_to(stream));
  IncomingMessages incoming(
      [](std::uint64_t address, std::byte* to, std::size_t bytes) { read_remote(::getpid(), address, to, bytes); });
  const auto arrived = incoming.next(stream);
  REQUIRE(arrived);
  CHECK(arrived->was_read_from_peer);
  CHECK(arrived->message.sections.empty());
  CHECK(arrived->message.unreadable == (is_late ? "its caller timed out before its tensors were read" : ""));
  CHECK(arrived->message.is_late == is_late);
  CHECK(arrived->message.tensors.size() == (is_late ? 0 : 1));
}

TEST_CASE("a message for which there is no memory is read to its end, and the next one arrives") {
  distrun::testing::skip_case_if(base::kSanitized, "sanitizers map more memory than a limit leaves");
  const bool in_tensors = GENERATE(false, true);
  const std::size_t large = 96 << 20;
  const Tensor tensor = tensor::zeros({in_tensors ? 12 << 20 : 1}, {tensor::DType::I64, {}});
  FakeStream stream;
  stream.bytes.reserve(large + 10'000);
  OutgoingMessage first(call_of(1, in_tensors ? 10 : large, {tensor}), 0), second(call_of(2, 10, {}), 0);
  second.set_number(1);
  CHECK(first.write_to(stream));
  CHECK(second.write_to(stream));
  stream.piece_max = 1 << 20;
  IncomingMessages incoming;
  std::vector<IncomingMessages::Arrived> arrived;
  {
    const testing::NoRoomFor none(large);
    const distrun::testing::LittleMemory limit(16 << 20);
    while (arrived.size() < 2 && stream.begin != stream.bytes.size()) {
      if (auto next = incoming.next(stream)) arrived.push_back(std::move(*next));
    }
  }
  REQUIRE(arrived.size() == 2);
  CHECK(arrived[0].message.id == 1);
  CHECK_THAT(arrived[0].message.unreadable, Catch::StartsWith("out of memory for its 100663"));
  CHECK_FALSE(arrived[0].message.is_late);
  CHECK(arrived[0].message.tensors.empty());
  CHECK(arrived[0].message.payload.capacity() == 0);
  CHECK(arrived[1].message.unreadable.empty());
  CHECK(arrived[1].message.payload.size() == 10);
}

}  // namespace distrun::agents::pipe

#include <catch2/catch.hpp>

#include <agents/faulty/corruption.hpp>
#include <distrun/runtime/rpc/calls/call_codec.hpp>
#include <distrun/runtime/rpc/values/convert.hpp>

namespace distrun::agents::faulty {
namespace {

rpc::Message reply_of(const rpc::Value& value) {
  rpc::Message message;
  message.kind = rpc::MessageKind::Reply;
  rpc::write_reply(message, value);
  return message;
}

TEST_CASE("a corruption flips one bit of the value, and reports whether it is still a value") {
  int readable = 0, unreadable = 0;
  for (std::uint64_t drawn = 0; drawn < 200; ++drawn) {
    const rpc::Message before = reply_of(rpc::to_value(std::int64_t{42}));
    rpc::Message message = before;
    const auto told = corrupt(message, drawn);
    REQUIRE(told);
    CHECK(message.payload.front() == before.payload.front());
    REQUIRE(message.payload.size() == before.payload.size());
    CHECK(message.payload != before.payload);
    const auto differing = static_cast<unsigned>(told->before ^ told->after);
    CHECK((differing & (differing - 1)) == 0);
    REQUIRE(told->is_readable);
    ++(*told->is_readable ? readable : unreadable);
    if (*told->is_readable) CHECK_NOTHROW(rpc::read_reply(message));
    if (!*told->is_readable) CHECK_THROWS(rpc::read_reply(message));
  }
  CHECK(readable > 0);
  CHECK(unreadable > 0);
}

TEST_CASE("a corruption describes what it has changed") {
  rpc::Message message;
  message.kind = rpc::MessageKind::Control;
  message.payload = {std::byte{0x7c}, std::byte{0}};
  const auto told = corrupt(message, 7);
  REQUIRE(told);
  CHECK(describe(*told, message) == "byte 0 of 2 is 0xfc and was 0x7c");
  Corruption other = *told;
  other.is_readable = true;
  CHECK(describe(other, message) == "byte 0 of 2 is 0xfc and was 0x7c: another value");
}

TEST_CASE("an empty message is not corrupted") {
  rpc::Message message;
  CHECK_FALSE(corrupt(message, 1));
  message.kind = rpc::MessageKind::Reply;
  message.payload = {std::byte{0}};
  CHECK_FALSE(corrupt(message, 1));
}

}  // namespace
}  // namespace distrun::agents::faulty

// Numbered messages, and remembered ids.
#include <catch2/catch.hpp>

#include <distrun/common/base/recent.hpp>
#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/rref/protocol/id.hpp>
#include <distrun/runtime/rref/protocol/numbered.hpp>

namespace distrun::rref {
namespace {

TEST_CASE("an outbox numbers its messages from 1, and keeps them until they are acknowledged") {
  Outbox outbox;
  CHECK(outbox.add({ForkMessageKind::UserDelete, 9, {0, 1}, {0, 2}, {}}).number == 1);
  CHECK(outbox.add({ForkMessageKind::ForkRequest, 0, {0, 1}, {0, 3}, {}}).number == 2);
  CHECK(outbox.take(2).fork == ForkId{0, 3});
  CHECK(outbox.take(2).kind == ForkMessageKind::Ack);
  CHECK(outbox.waiting().size() == 1);
  CHECK(outbox.last() == 2);
}

TEST_CASE("an inbox recognizes repeated messages, in any order, and stays small") {
  Inbox inbox;
  CHECK_FALSE(inbox.add(0));
  for (const std::uint64_t number : {3U, 1U, 4U}) CHECK(inbox.add(number));
  CHECK(inbox.all_up_to() == 1);
  CHECK(inbox.beyond() == std::set<std::uint64_t>{3, 4});
  for (const std::uint64_t number : {1U, 3U, 4U}) CHECK_FALSE(inbox.add(number));
  CHECK(inbox.add(2));
  CHECK(inbox.all_up_to() == 4);
  CHECK(inbox.beyond().empty());
  CHECK_FALSE(inbox.add(4));
}

TEST_CASE("the newest ids are remembered") {
  base::Recent<RRefId, HashId> recent(2);
  recent.add({0, 1});
  recent.add({1, 2});
  recent.add({0, 1});  // this does not make it newer
  recent.add({0, 3});
  CHECK_FALSE(recent.contains({0, 1}));
  CHECK(recent.contains({1, 2}));
  CHECK(recent.erase({1, 2}));
  CHECK_FALSE(recent.erase({1, 2}));
  recent.add({2, 4});
  recent.erase_if([](const RRefId& id) { return id.created_on == 0; });
  CHECK(recent.size() == 1);
  CHECK(recent.contains({2, 4}));
}

TEST_CASE("messages and forks are read back as they were written") {
  const ForkMessage message{ForkMessageKind::Ack, 5, {1, 2}, {3, 4}, "gone"};
  CHECK(wire::decode<ForkMessage>(wire::view_of(wire::encode(message))) == message);
  const Fork fork{{1, 2}, {3, 4}, 5, 6};
  CHECK(wire::decode<Fork>(wire::view_of(wire::encode(fork))) == fork);
}

}  // namespace
}  // namespace distrun::rref

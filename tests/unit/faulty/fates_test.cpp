// The fates of messages depend only on the seed and their order.
#include <catch2/catch.hpp>

#include <agents/faulty/fates.hpp>

namespace distrun::agents::faulty {
namespace {

using wire::FaultKind;

wire::FaultPlan plan_of(const std::string& text) { return wire::parse_fault_plan("plan", text); }

rpc::Message message_of(std::uint64_t id, int payload = 0) {
  rpc::Message message;
  message.id = id;
  message.payload = {static_cast<std::byte>(payload), static_cast<std::byte>(payload >> 8)};
  return message;
}

// Returns which messages are dropped, as "..X.X".
std::string drops(Fates& fates, rpc::WorkerId to, FaultKind kind, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fates.next(to, kind, message_of(1, i)).is_dropped ? 'X' : '.';
  return text;
}

TEST_CASE("a seed repeats the faults, and another seed gives others") {
  Fates first(plan_of("7:drop:ack:0.5"), 0), again(plan_of("7:drop:ack:0.5"), 0), other(plan_of("8:drop:ack:0.5"), 0);
  const std::string seen = drops(first, 1, FaultKind::Ack, 100);
  CHECK(drops(again, 1, FaultKind::Ack, 100) == seen);
  CHECK(drops(other, 1, FaultKind::Ack, 100) != seen);
}

TEST_CASE("ranks, workers and kinds draw separately") {
  Fates alone(plan_of("7:drop:retriable:0.5"), 0), mixed(plan_of("7:drop:retriable:0.5"), 0),
      neighbour(plan_of("7:drop:retriable:0.5"), 1);
  const std::string seen = drops(alone, 1, FaultKind::Ack, 60);
  std::string between;
  for (int i = 0; i < 60; ++i) {
    drops(mixed, 2, FaultKind::Ack, 1);
    drops(mixed, 1, FaultKind::ForkRequest, 2);
    between += drops(mixed, 1, FaultKind::Ack, 1);
  }
  CHECK(between == seen);
  CHECK(drops(alone, 2, FaultKind::Ack, 60) != seen);
  CHECK(drops(alone, 1, FaultKind::ForkRequest, 60) != seen);
  CHECK(drops(neighbour, 1, FaultKind::Ack, 60) != seen);
}

TEST_CASE("a probability is kept, and 0 and 1 are certain") {
  Fates fates(plan_of("3:drop:ack:0.1,drop:reply:1,drop:call:0"), 0);
  const std::string seen = drops(fates, 1, FaultKind::Ack, 10'000);
  const auto dropped = std::count(seen.begin(), seen.end(), 'X');
  CHECK(dropped > 850);
  CHECK(dropped < 1150);
  CHECK(drops(fates, 1, FaultKind::Reply, 5) == "XXXXX");
  CHECK(drops(fates, 1, FaultKind::Call, 5) == ".....");
  CHECK(drops(fates, 1, FaultKind::Control, 5) == ".....");
}

TEST_CASE("each message fails independently, so that a message sent again gets through") {
  Fates fates(plan_of("1:fail:fork_request:3"), 0);
  const auto fails = [&](int payload, std::uint64_t id) {
    return fates.next(1, FaultKind::ForkRequest, message_of(id, payload)).fails;
  };
  for (std::uint64_t attempt = 0; attempt < 3; ++attempt) {
    CHECK(fails(1, attempt));
    CHECK(fails(2, attempt));
  }
  CHECK_FALSE(fails(1, 9));
  CHECK_FALSE(fails(2, 9));
  CHECK(fails(3, 9));
  CHECK(fates.next(2, FaultKind::ForkRequest, message_of(9, 1)).fails);
  CHECK_FALSE(fates.next(1, FaultKind::Ack, message_of(9, 7)).fails);
}

TEST_CASE("answers with equal content are not the same message") {
  Fates fates(plan_of("1:fail:reply:1"), 0);
  CHECK(fates.next(1, FaultKind::Reply, message_of(1)).fails);
  CHECK(fates.next(1, FaultKind::Reply, message_of(2)).fails);
  CHECK_FALSE(fates.next(1, FaultKind::Reply, message_of(1)).fails);
}

TEST_CASE("two faults are drawn independently") {
  Fates fates(plan_of("1:fail:ack:1,fail:ack:2"), 0);
  CHECK(fates.next(1, FaultKind::Ack, message_of(1)).fails);
  CHECK(fates.next(1, FaultKind::Ack, message_of(1)).fails);
  CHECK_FALSE(fates.next(1, FaultKind::Ack, message_of(1)).fails);
}

TEST_CASE("the longest of several delays counts") {
  Fates fates(plan_of("1:delay:call:1,delay:any:2:ordered,reorder:call:1:4"), 0);
  const Fate fate = fates.next(1, FaultKind::Call, message_of(1));
  CHECK(fate.delay == std::chrono::seconds(2));
  CHECK(fate.keeps_order);
  CHECK(fate.behind == 4);
}

TEST_CASE("a cut happens with the given message to the given worker, of any kind") {
  Fates fates(plan_of("1:cut:1@3"), 0);
  CHECK_FALSE(fates.next(1, FaultKind::Call, message_of(1)).is_cut);
  CHECK_FALSE(fates.next(2).is_cut);
  CHECK_FALSE(fates.next(1).is_cut);
  CHECK(fates.next(1, FaultKind::Ack, message_of(1)).is_cut);
  CHECK_FALSE(fates.next(1).is_cut);
}

}  // namespace
}  // namespace distrun::agents::faulty

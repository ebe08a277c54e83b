// Point-to-point messages of a rank that writes impossible values into the boxes: a receive or send fails and names the
// rank, and the memory kept for a rank's messages is bounded.
#include <catch2/catch.hpp>

#include <distrun/runtime/collectives/shm/mail.hpp>

#include "hostile_peer.hpp"
#include "support/error_of.hpp"
#include "support/process.hpp"

namespace distrun::collectives {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kTag = 5, kOther = 6;

struct HostileMail : testing::SharedWithStranger {
  shm::MailBox& from_peer() const { return area->mail_box(1, 0); }
  shm::MailBox& to_peer() const { return area->mail_box(0, 1); }
  // Makes this the first message.
  void show(const shm::MessageHeader& head) const {
    from_peer().messages[0].head = head;
    from_peer().written = 1;
  }
  void receive(std::size_t bytes, base::Nanoseconds timeout = 20s, std::uint64_t tag = kTag) const {
    std::vector<std::byte> into(bytes);
    mail->receive({1, tag, DType::U8, {}}, into)->finish(testing::from_now(timeout));
  }
  void send(std::size_t bytes, base::Nanoseconds timeout = 20s) const {
    const std::vector<std::byte> from(bytes);
    mail->send({1, kTag, DType::U8, {}}, from)->finish(testing::from_now(timeout));
  }

  const std::shared_ptr<shm::Mail> mail = std::make_shared<shm::Mail>(area, group, bells);
};

shm::MessageHeader head_of(std::uint64_t size) {
  shm::MessageHeader head;
  head.tag = kTag;
  head.size = size;
  head.dtype = DType::U8;
  return head;
}

TEST_CASE("an invalid message makes its receive fail, and the error names the rank") {
  const auto refused = [](const shm::MessageHeader& head, std::size_t bytes) {
    HostileMail world;
    world.show(head);
    const Error error = testing::error_of([&] { world.receive(bytes); });
    CHECK(error.kind() == ErrorKind::Disconnected);
    CHECK_THAT(error.text(), Catch::Contains("rank 1 has corrupted the shared memory of group world: it shows "));
    return error.text();
  };
  // More than a box holds: the receiver would read beyond it.
  CHECK_THAT(refused(head_of(shm::kLetterRoom + 1), shm::kLetterRoom + 1), Catch::Contains("message of 8193 bytes"));
  CHECK_THAT(refused(head_of(1 << 20), 1 << 20), Catch::Contains("message of 1048576 bytes, where at most 8192"));
  refused(head_of(~std::uint64_t{0}), 1);
  shm::MessageHeader head = head_of(1);
  head.dtype = static_cast<DType>(200);
  CHECK_THAT(refused(head, 1), Catch::Contains("unknown dtype 200"));
  head = head_of(1);
  head.carriage = static_cast<shm::Carriage>(77);
  CHECK_THAT(refused(head, 1), Catch::Contains("unknown transfer kind 77"));
  head = head_of(1 << 20);
  head.carriage = shm::Carriage::Fetched;
  head.read_index = shm::kReads;
  CHECK_THAT(refused(head, 1 << 20), Catch::Contains("direct read 32 of 32"));
}

TEST_CASE("invalid message counts are refused, and nothing is taken") {
  for (const std::uint64_t written : {shm::kMessages + 1, std::uint64_t{1} << 62, ~std::uint64_t{0}}) {
    HostileMail world;
    world.from_peer().written = written;
    CHECK_THAT(testing::error_of([&] { world.receive(1); }).text(), Catch::Contains("has corrupted the shared memory"));
    CHECK(world.from_peer().taken == 0);
  }
  for (const std::uint64_t taken : {std::uint64_t{1}, ~std::uint64_t{0}}) {
    HostileMail world;
    world.to_peer().taken = taken;
    CHECK_THAT(testing::error_of([&] { world.send(1); }).text(), Catch::Contains("has corrupted the shared memory"));
    CHECK(world.to_peer().written == 0);
  }
}

TEST_CASE("message counters are local: another rank cannot make a rank take or write a message twice") {
  HostileMail world;
  world.show(head_of(1));
  world.receive(1);
  world.from_peer().taken = 0;
  CHECK(testing::error_of([&] { world.receive(1, 50ms); }).kind() == ErrorKind::Timeout);
  world.send(1);
  world.to_peer().written = 0;
  world.send(1);
  CHECK(world.to_peer().written == 2);
}

// Only the kernel reads there, and it knows which addresses are mapped.
TEST_CASE("a message at an unmapped address fails, also if its rank says that it is of this process") {
  for (const int pid : {::getpid(), ::getppid(), -1}) {
    HostileMail world;
    world.peer().pid = pid;
    shm::MessageHeader head = head_of(1 << 20);
    head.carriage = shm::Carriage::Fetched;
    head.address = 16;
    head.read_word = 4 + static_cast<std::uint64_t>(shm::ReadState::Offered);
    world.peer().reads[0] = head.read_word;
    world.show(head);
    CHECK_THAT(testing::error_of([&] { world.receive(1 << 20); }).what(), Catch::Contains("a message of rank 1"));
    CHECK(world.peer().reads[0] == 4 + static_cast<std::uint64_t>(shm::ReadState::Fetched));
  }
}

TEST_CASE("a message in memory of a third process is refused") {
  HostileMail world;
  const core::SharedMemory memory("a test", 1 << 20);
  shm::MessageHeader head = head_of(1 << 20);
  head.carriage = shm::Carriage::Shared;
  head.read_word = 4 + static_cast<std::uint64_t>(shm::ReadState::Offered);
  head.memory = memory.address();
  world.peer().reads[0] = head.read_word;
  world.show(head);
  CHECK_THAT(testing::error_of([&] { world.receive(1 << 20); }).what(), Catch::Contains("memory of process"));
}

TEST_CASE("a large message with a state that another rank forges has not arrived, and harms no other message") {
  for (const std::uint64_t forged : {std::uint64_t{0}, 4 * std::uint64_t{9} + 3, ~std::uint64_t{0}}) {
    HostileMail world;
    const std::vector<std::byte> from(1 << 20);
    const auto one = world.mail->send({1, kTag, DType::U8, {}}, from);
    world.own().reads[0] = forged;
    const auto two = world.mail->send({1, kTag, DType::U8, {}}, from);
    CHECK(world.to_peer().messages[1].head.read_index == 1);  // the first is still in use
    CHECK_THAT(testing::error_of([&] { one->finish(testing::from_now(20s)); }).text(),
               Catch::Contains("has changed the state of a message"));
  }
}

TEST_CASE("a rank that another rank declares gone still gets its messages") {
  HostileMail world;
  world.own().presence = shm::Presence::Left;
  CHECK(testing::error_of([&] { world.receive(1, 50ms); }).kind() == ErrorKind::Timeout);
  world.show(head_of(1));
  CHECK_NOTHROW(world.receive(1));
}

// ---- kept messages

// Two correct ranks in this process.
struct TwoRanks {
  TwoRanks() {
    for (const int rank : {0, 1}) area->take_seat(rank);
  }
  std::shared_ptr<shm::Mail> mail_of(int rank) const {
    const GroupInfo group = testing::pair_of_ranks(rank);
    return std::make_shared<shm::Mail>(area, group, shm::Bells(area, group));
  }
  void send(std::uint64_t tag, std::size_t bytes) const {
    const std::vector<std::byte> from(bytes, std::byte{static_cast<unsigned char>(tag)});
    theirs->send({0, tag, DType::U8, {}}, from)->finish(testing::from_now(60s));
  }
  // Returns whether the received bytes are those sent.
  bool receive(std::uint64_t tag, std::size_t bytes, base::Nanoseconds timeout = 60s) const {
    std::vector<std::byte> into(bytes);
    ours->receive({1, tag, DType::U8, {}, timeout}, into)->finish(testing::from_now(timeout));
    return into == std::vector<std::byte>(bytes, std::byte{static_cast<unsigned char>(tag)});
  }

  const std::shared_ptr<shm::Area> area = std::make_shared<shm::Area>(2);
  const std::shared_ptr<shm::Mail> ours = mail_of(0), theirs = mail_of(1);
};

constexpr int kMany = 6000;  // of the largest that boxes carry: 47 MiB
constexpr int kKept = static_cast<int>(shm::kKeptMost / (sizeof(shm::Arrived) + shm::kLetterRoom));
constexpr int kInBox = static_cast<int>(shm::kMessages);

TEST_CASE("unreceived messages are kept up to a bound, then their sender waits, and none is lost") {
  const TwoRanks world;
  std::atomic<int> sent{0};
  const base::Thread sender("sender", [&] {
    for (int i = 0; i < kMany; ++i, ++sent) world.send(kTag, shm::kLetterRoom);
    world.send(kOther, 1);
  });
  std::string text = testing::error_of([&] { world.receive(kOther, 1, 1s); }).text();
  while (sent < kKept + kInBox) text = testing::error_of([&] { world.receive(kOther, 1, 100ms); }).text();
  CHECK_THAT(text, (Catch::Contains("has timed out after 1.0 s") || Catch::Contains("has timed out after 100.0 ms")) &&
                       Catch::Contains("no more messages of rank 1 are accepted") &&
                       Catch::Contains("32 MiB of other messages wait to be received, the oldest with tag 5"));
  CHECK(sent == kKept + kInBox);
  std::atomic<bool> is_there{false};
  const base::Thread waiter("waiter", [&] { is_there = world.receive(kOther, 1); });
  for (int i = 0; i < kMany; ++i) REQUIRE(world.receive(kTag, shm::kLetterRoom));
  CHECK(testing::eventually(30s, [&] { return is_there.load(); }));
}

TEST_CASE("all messages of a rank that has left are taken, beyond the bound too") {
  const TwoRanks world;
  const base::Thread sender("sender", [&] {
    for (int i = 0; i < kKept + kInBox - 1; ++i) world.send(kTag, shm::kLetterRoom);
    world.send(kOther, 1);
    world.area->end(1, shm::Presence::Left, "");
  });
  CHECK(world.receive(kOther, 1));
  for (int i = 0; i < kKept + kInBox - 1; ++i) REQUIRE(world.receive(kTag, shm::kLetterRoom));
}

TEST_CASE("a wait for a message is not ended early by other ranks' messages") {
  const TwoRanks world;
  for (int i = 0; i < kInBox; ++i) world.send(kTag, 1);
  CHECK_THAT(testing::error_of([&] { world.receive(kOther, 1, 20ms); }).text(), !Catch::Contains("no more messages"));
  for (int i = 0; i < kInBox; ++i) CHECK(world.receive(kTag, 1));
}

}  // namespace
}  // namespace distrun::collectives

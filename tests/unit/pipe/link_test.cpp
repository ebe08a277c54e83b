// An agent's link to a peer: waiting messages, reading, and its end.
#include <catch2/catch.hpp>

#include <array>
#include <limits>
#include <optional>
#include <thread>

#include <agents/pipe/link.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/sanitizer.hpp>
#include <distrun/runtime/tensor/core/empty.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "fake_stream.hpp"
#include "linked_pair.hpp"
#include "no_room.hpp"
#include "support/error_of.hpp"
#include "support/skip.hpp"

namespace distrun::agents::pipe {
namespace {

using rpc::Message;
using rpc::MessageKind;
using rpc::WorkerInfo;
using testing::end_of;
using testing::FakeStream;
using testing::Mailbox;

Message message_of(std::uint64_t id, std::size_t bytes = 1) {
  Message message;
  message.id = id;
  message.payload.resize(bytes);
  return message;
}

Connection connection_of(const std::string& transport = "uds") {
  Connection connection;
  connection.peer = 2;
  connection.peer_pid = 1;
  connection.transport = transport;
  return connection;
}

// A link with a stream that the test controls.
struct Linked {
  explicit Linked(base::ByteBudget& budget = SendQueue::budget_of_process())
      : link(WorkerInfo("worker2", 2), "uds:somewhere", budget) {
    auto made = std::make_unique<FakeStream>();
    stream = made.get();
    link.begin(connection_of(), std::move(made));
  }
  void come(Message message) { come(OutgoingMessage(std::move(message), 0)); }
  void come(OutgoingMessage message) {
    message.set_number(next++);
    FakeStream bytes;
    message.write_to(bytes);
    stream->bytes.insert(stream->bytes.end(), bytes.bytes.begin(), bytes.bytes.end());
  }

  Link link;
  FakeStream* stream = nullptr;
  std::uint64_t next = 0;
  Mailbox mailbox;
};

TEST_CASE("messages sent before the peers have connected wait, and are written in order") {
  Link link(WorkerInfo("worker2", 2), "uds:somewhere");
  CHECK(link.state() == Link::State::Idle);
  CHECK(link.send(message_of(1), Link::Limit::Call) == Link::Sent::MustConnect);
  CHECK(link.send(message_of(2), Link::Limit::Call) == Link::Sent::Queued);
  CHECK(link.has_queue());
  CHECK(link.state() == Link::State::Connecting);
  auto made = std::make_unique<FakeStream>();
  FakeStream* const stream = made.get();
  link.begin(connection_of(), std::move(made));
  CHECK(link.state() == Link::State::Up);
  CHECK_FALSE(link.has_queue());
  CHECK(stream->rings == 1);
  CHECK(link.send(message_of(3), Link::Limit::Call) == Link::Sent::Written);
  IncomingMessages incoming;
  for (std::uint64_t id = 1; id <= 3; ++id) CHECK(incoming.next(*stream)->message.id == id);
  std::map<std::string, std::string> info;
  link.add_debug_info(info);
  CHECK(info["pipe.worker2.transport"] == "uds");
  CHECK(info["pipe.worker2.messages_out"] == "3");
  CHECK(info["pipe.worker2.channels"] == "inline");
}

TEST_CASE("messages without free space wait until they are flushed") {
  Linked own;
  own.stream->room = 50;
  CHECK(own.link.send(message_of(1, 100), Link::Limit::Call) == Link::Sent::Queued);
  CHECK(own.link.send(message_of(2), Link::Limit::Call) == Link::Sent::Queued);
  CHECK_FALSE(own.link.flush());
  own.stream->room = 1000;
  CHECK(own.link.flush());
  CHECK_FALSE(own.link.has_queue());
  IncomingMessages incoming;
  CHECK(incoming.next(*own.stream)->message.payload.size() == 100);
  CHECK(incoming.next(*own.stream)->message.id == 2);
}

TEST_CASE("calls beyond the limit are refused, and answers are not") {
  Linked own;
  own.stream->room = 0;
  Message large = message_of(1, 10);
  large.tensors = {tensor::empty({257 << 20}, {tensor::DType::U8, {}})};  // counts, although it is not copied
  own.link.send(std::move(large), Link::Limit::Call);
  try {
    own.link.send(message_of(2), Link::Limit::Call);
    FAIL("it was taken");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Overloaded);
    CHECK_THAT(error.text(),
               Catch::StartsWith("too much data is in flight to worker2, which does not read it: 1 messages, "));
  }
  CHECK(own.link.send(message_of(3), Link::Limit::None) == Link::Sent::Queued);
}

TEST_CASE("the links to several peers that do not read share one budget, and each may always have a little") {
  constexpr std::size_t kMiB = 1 << 20;
  base::ByteBudget budget(90 * kMiB);
  std::array<std::optional<Linked>, 3> stopped;
  for (auto& each : stopped) {
    each.emplace(budget);
    each->stream->room = 0;
    CHECK(each->link.has_room());
    CHECK(each->link.send(message_of(1, 30 * kMiB), Link::Limit::Reply) == Link::Sent::Queued);
  }
  Linked other(budget);
  other.stream->room = 0;
  for (auto& each : stopped) CHECK_FALSE(each->link.has_room());
  for (const auto limit : {Link::Limit::Reply, Link::Limit::Call}) {
    const Error error = distrun::testing::error_of([&] { stopped[0]->link.send(message_of(2), limit); });
    CHECK(error.kind() == ErrorKind::Overloaded);
    CHECK_THAT(error.text(), Catch::StartsWith("too much data is in flight to worker2, which does not read it: 1 "));
    CHECK_THAT(error.text(), Catch::Contains(" to all workers, at most 94371840 may be"));
  }
  CHECK(stopped[0]->link.send(message_of(3), Link::Limit::None) == Link::Sent::Queued);
  CHECK(other.link.has_room());
  CHECK(other.link.send(message_of(1, 10 * kMiB), Link::Limit::Reply) == Link::Sent::Queued);
  SECTION("a peer that reads makes room") {
    stopped[1]->stream->room = 40 * kMiB;
    CHECK(stopped[1]->link.flush());
  }
  SECTION("a peer that is lost makes room") { stopped[1]->link.end(Link::State::Lost, Error(ErrorKind::Failed, "")); }
  SECTION("a link that is gone makes room") { stopped[1].reset(); }
  CHECK(stopped[0]->link.has_room());
  CHECK(stopped[0]->link.send(message_of(4), Link::Limit::Reply) == Link::Sent::Queued);
  for (auto& each : stopped) each.reset();
  CHECK(budget.bytes() > 10 * kMiB);
  CHECK(budget.bytes() < 11 * kMiB);
}

TEST_CASE("a call that times out while it waits for free space is not sent with its data") {
  Linked own;
  own.stream->room = 0;
  own.link.send(message_of(1, 10 << 20), Link::Limit::Call);
  own.link.send(message_of(2, 100), Link::Limit::Call);
  Message cancel;
  cancel.kind = rpc::MessageKind::Cancel;
  cancel.id = 1;
  own.link.send(std::move(cancel), Link::Limit::None);
  own.stream->room = 1000;
  CHECK(own.link.flush());
  IncomingMessages incoming;
  CHECK_FALSE(incoming.next(*own.stream)->message.unreadable.empty());
  CHECK(incoming.next(*own.stream)->message.payload.size() == 100);
  CHECK(incoming.next(*own.stream)->kind == static_cast<std::uint8_t>(rpc::MessageKind::Cancel));
}

TEST_CASE("a link ends, and writes nothing more, if a call times out half sent and there is no memory for its rest") {
  distrun::testing::skip_case_if(base::kSanitized, "a sanitizer maps terabytes");
  Linked own;
  own.stream->room = 5000;
  Message call = message_of(1, 1000);
  call.tensors = {tensor::arange(5'000'000)};
  CHECK(own.link.send(std::move(call), Link::Limit::Call) == Link::Sent::Queued);
  const std::size_t written = own.stream->bytes.size();
  Message cancel;
  cancel.kind = rpc::MessageKind::Cancel;
  cancel.id = 1;
  std::optional<Link::Sent> sent;
  {
    const testing::NoRoomFor none(5'000'000 * sizeof(std::int64_t));
    sent = own.link.send(std::move(cancel), Link::Limit::None);
  }
  CHECK(sent == Link::Sent::Ended);
  own.stream->room = 100 << 20;
  own.link.flush();
  CHECK(own.stream->bytes.size() == written);
  CHECK(own.link.state() == Link::State::Lost);
  const Error error = distrun::testing::error_of([&] { own.link.send(message_of(2), Link::Limit::Call); });
  CHECK(error.kind() == ErrorKind::Disconnected);
  CHECK_THAT(error.text(),
             Catch::StartsWith("the connection to worker2 has ended: a call that timed out was half sent"));
  const auto told = own.link.take_end();
  REQUIRE(told);
  CHECK(told->text() == error.text());
}

TEST_CASE("as many messages as wanted are delivered, and unknown kinds are skipped") {
  Linked own;
  for (std::uint64_t id = 1; id <= 5; ++id) own.come(message_of(id));
  own.come(OutgoingMessage::own(77, 0));
  own.come(message_of(6));
  CHECK(own.link.read(own.mailbox, 2) == 2);
  CHECK(own.mailbox.messages.size() == 2);
  CHECK(own.link.read(own.mailbox, 100) == 5);
  REQUIRE(own.mailbox.messages.size() == 6);
  CHECK(own.mailbox.messages.back().id == 6);
  CHECK(own.mailbox.senders.back() == "worker2");
  CHECK(own.link.read(own.mailbox, 100) == 0);
}

TEST_CASE("after a peer's leave message nothing that it sends is taken") {
  Linked own;
  own.come(message_of(1));
  own.come(OutgoingMessage::own(kLeave, 0));
  own.come(message_of(2));
  own.link.read(own.mailbox, 100);
  CHECK(own.mailbox.messages.size() == 1);
  CHECK(own.link.state() == Link::State::Left);
  CHECK(end_of(own.link) == "worker2 has left: it has closed its agent");
  CHECK(end_of(own.link) == "none");
  own.link.drain(own.mailbox);
  CHECK(own.mailbox.messages.size() == 1);
  CHECK_THROWS_WITH(own.link.send(message_of(3), Link::Limit::Call), "worker2 has left: it has closed its agent");
}

TEST_CASE("an invalid stream ends its link") {
  Linked own;
  own.stream->bytes.assign(200, std::byte{'x'});
  CHECK(own.link.read(own.mailbox, 100) == 1);
  CHECK(own.link.state() == Link::State::Lost);
  CHECK(end_of(own.link) == "worker2 (process 1) is gone: a pipe message is malformed: its marker is missing");
  CHECK(own.link.read(own.mailbox, 100) == 0);
}

TEST_CASE("the loss of a peer is reported after its last messages") {
  Linked own;
  own.come(message_of(1));
  own.stream->ends = true;
  own.link.drain(own.mailbox);
  CHECK(own.mailbox.messages.size() == 1);
  CHECK(own.link.end(Link::State::Lost, Error(ErrorKind::Disconnected, "worker2 is gone: its process has ended")));
  CHECK_FALSE(own.link.end(Link::State::Left, Error(ErrorKind::Disconnected, "later")));
  CHECK(end_of(own.link) == "worker2 is gone: its process has ended");
  CHECK_FALSE(own.link.has_queue());
}

// A table with one tensor larger than any machine's memory.
wire::Bytes endless() {
  wire::ByteWriter table;
  constexpr std::uint64_t kBytes = std::uint64_t{1} << 40;
  table.number(std::uint8_t{0});
  table.number(std::uint32_t{1});
  table.number(std::uint8_t{0});
  table.number(kBytes);
  table.number(std::uint32_t{1});
  table.number(std::uint8_t{1});
  table.number(std::uint8_t{1});
  table.number(std::uint8_t{1});
  table.number(std::uint32_t{0});
  table.number(static_cast<std::int64_t>(kBytes));
  const wire::Bytes rest = table.take();
  MessageHead head;
  head.table_bytes = static_cast<std::uint32_t>(rest.size());
  head.memory_bytes = kBytes;
  wire::ByteWriter all;
  all.append(&head, sizeof head);
  all.append(rest.data(), rest.size());
  return all.take();
}

TEST_CASE("wrong claims of a peer about its memory end only its link") {
  distrun::testing::skip_case_if(base::kSanitized, "a sanitizer ends the process where there is no memory");
  Linked reads, drains;
  reads.stream->bytes = endless();
  drains.stream->bytes = endless();
  reads.link.read(reads.mailbox, 100);
  drains.link.drain(drains.mailbox);
  CHECK(reads.mailbox.messages.empty());
  CHECK(drains.mailbox.messages.empty());
}

TEST_CASE("a link that is closed delivers nothing, and sends nothing") {
  Linked own;
  own.come(message_of(1));
  own.link.close();
  CHECK(own.link.read(own.mailbox, 100) == 0);
  own.link.drain(own.mailbox);
  CHECK(own.mailbox.messages.empty());
  CHECK(end_of(own.link) == "none");
  CHECK_THROWS_WITH(own.link.send(message_of(2), Link::Limit::Call), "RPC is no longer running on this node");
}

// Two links on one machine.
struct Beside {
  Beside() {
    auto memfd = RingPair::make_memfd();
    auto ours = std::make_unique<RingPair>(base::Fd(::dup(memfd.get())), true);
    auto theirs = std::make_unique<RingPair>(std::move(memfd), false);
    one.begin(connection_of("shm"),
              std::make_unique<ShmStream>(std::move(ours), std::make_unique<Door>(door_of_two.duplicate_fd())));
    two.begin(connection_of("shm"),
              std::make_unique<ShmStream>(std::move(theirs), std::make_unique<Door>(door_of_one.duplicate_fd())));
  }
  Door door_of_one, door_of_two;
  Link one{WorkerInfo("worker2", 2), "uds:2"};
  Link two{WorkerInfo("worker1", 1), "uds:1"};
  Mailbox mailbox;
};

TEST_CASE("links in shared memory know when there is data to read, and ring the peer's door") {
  Beside links;
  CHECK(links.one.is_shm());
  CHECK_FALSE(links.two.is_ready());
  links.door_of_two.set_parked(0);
  CHECK(links.one.send(message_of(1), Link::Limit::Call) == Link::Sent::Written);
  CHECK(links.two.is_ready());
  CHECK(Door::is_parked(links.door_of_two.state()));
  links.one.ring();
  CHECK_FALSE(Door::is_parked(links.door_of_two.state()));
  CHECK(links.two.read(links.mailbox, 10) == 1);
  CHECK_FALSE(links.two.is_ready());
  links.one.send_leave("a reason");
  links.two.read(links.mailbox, 10);
  CHECK(links.two.state() == Link::State::Left);
  CHECK(end_of(links.two) == "worker1 has left: a reason");
}

TEST_CASE("a peer that has just fallen asleep is rung later, with any clock value") {
  Beside links;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  links.one.ring_later();
  CHECK_FALSE(links.one.owes_bell());
  links.door_of_two.set_parked(std::chrono::nanoseconds(now).count() + 1'000'000'000);
  links.one.ring_later();
  links.one.pay_bell();
  CHECK_FALSE(links.one.owes_bell());
  CHECK_FALSE(Door::is_parked(links.door_of_two.state()));
  for (const auto nonsense : {std::numeric_limits<std::int64_t>::min(), std::int64_t{0}}) {
    links.door_of_two.set_parked(nonsense);
    links.one.ring_later();
    CHECK_FALSE(Door::is_parked(links.door_of_two.state()));
  }
}

TEST_CASE("bells for messages that no thread waits for are rung in batches") {
  Beside links;
  links.door_of_two.set_parked(0);
  for (int i = 0; i < 64; ++i) links.one.owe_bell();
  CHECK(links.one.owes_bell());
  CHECK(Door::is_parked(links.door_of_two.state()));
  links.one.owe_bell();
  CHECK_FALSE(Door::is_parked(links.door_of_two.state()));
  CHECK_FALSE(links.one.owes_bell());
}

TEST_CASE("many threads send over a shared-memory link while one reads, and each thread's messages arrive in order") {
  Beside links;
  constexpr std::uint64_t kEach = 5000;
  std::vector<std::thread> senders;
  for (std::uint64_t sender = 0; sender < 3; ++sender) {
    senders.emplace_back([&, sender] {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        links.one.send(message_of(sender * kEach + i, i % 700 == 0 ? 100'000 : 100), Link::Limit::None);
      }
    });
  }
  while (links.mailbox.messages.size() < 3 * kEach) {
    if (links.two.read(links.mailbox, 64) == 0) std::this_thread::yield();
    links.one.flush();
  }
  for (std::thread& each : senders) each.join();
  std::uint64_t next[3] = {0, 0, 0};
  for (const Message& each : links.mailbox.messages) {
    const auto sender = each.id / kEach;
    REQUIRE(each.id % kEach == next[sender]++);
    REQUIRE(each.payload.size() == (each.id % kEach % 700 == 0 ? 100'000 : 100));
  }
}

}  // namespace
}  // namespace distrun::agents::pipe

// Who comes to a worker, or answers it, and is none, or is slow, or goes away.
#include <catch2/catch.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <cstring>

#include <agents/pipe/greeting_line.hpp>
#include <agents/pipe/porter.hpp>
#include <agents/pipe/transports/listener.hpp>
#include <distrun/common/base/error.hpp>

#include "desk.hpp"

namespace distrun::agents::pipe {
namespace {

using testing::count_descriptors;
using testing::Desk;
using testing::identity_of;
using testing::kLong;

bool wait_for_input(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, static_cast<int>(base::Milliseconds(kLong).count())) == 1;
}

// The frame that comes next, without its length; empty: the other side closes instead.
wire::Bytes next_frame(GreetingLine& line) {
  try {
    for (;;) {
      if (auto frame = line.receive()) return *frame;
      REQUIRE(wait_for_input(line.fd()));
    }
  } catch (const Error&) {
    return {};
  }
}

std::string refusal_to(const wire::Bytes& bytes, Desk& desk) {
  GreetingLine line(dial(parse_address(desk.porter.address())[0]).socket);
  line.put(bytes);
  REQUIRE(line.flush());
  const wire::Bytes frame = next_frame(line);
  if (frame.empty()) return "closed";
  const Answer answer = read_answer(wire::view_of(frame));
  REQUIRE(std::holds_alternative<Refusal>(answer));
  CHECK(next_frame(line).empty());
  return std::get<Refusal>(answer).reason;
}

wire::Bytes bytes_of(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

TEST_CASE("who is no worker of this session is refused with the reason") {
  Desk desk(1, {"uds", "tcp"});
  desk.reason = "the desk is closed";
  desk.porter.start();
  const Identity own = identity_of(2);
  CHECK(refusal_to(pack(make_hello(own, 1)), desk) == "the desk is closed");

  Identity other = own;
  other.secret.back() = 'x';
  CHECK(refusal_to(pack(make_hello(other, 1)), desk) == "the secret is not that of this session");
  other.secret.clear();
  CHECK(refusal_to(pack(make_hello(other, 1)), desk) == "the secret is not that of this session");

  Hello hello = make_hello(own, 1);
  hello.version = 7;
  CHECK(refusal_to(pack(hello), desk) == "this worker speaks version 3 of the protocol, the other one 7");
  hello = make_hello(own, 1);
  hello.magic = 1;
  CHECK(refusal_to(pack(hello), desk) == "what has come is no worker's greeting");
  CHECK(refusal_to(pack(make_hello(own, 3)), desk) == "this is worker 1, not 3");
  CHECK(refusal_to(pack(make_hello(identity_of(1), 1)), desk) == "this is worker 1, too");
  hello.magic = kProtocolMagic;
  hello.transports.resize(9);
  CHECK(refusal_to(pack(hello), desk) == "it offers 9 transports, the limit is 8");

  CHECK(refusal_to(bytes_of("GET / HTTP/1.1\r\n\r\n"), desk) ==
        "what has come is no worker's greeting: it would have 542393671 bytes");
  CHECK(refusal_to(bytes_of(std::string(4, '\0')), desk) ==
        "what has come is no worker's greeting: it would have 0 bytes");
  CHECK(refusal_to(bytes_of(std::string("\x03\0\0\0abc", 7)), desk) == "what has come is no worker's greeting");
  CHECK(desk.connections.empty());
}

TEST_CASE("too many files are refused") {
  Desk desk(1, {"uds"});
  desk.porter.start();
  GreetingLine line(dial(parse_address(desk.porter.address())[0]).socket);
  CHECK_THROWS_WITH(line.put({}, std::vector<int>(9, 0)), "9 files are too many for a greeting");
  const std::ptrdiff_t before = count_descriptors();
  line.put(pack(make_hello(identity_of(2), 1)), std::vector<int>(8, line.fd()));
  REQUIRE(line.flush());
  line.put(pack(make_hello(identity_of(2), 1)), {});
  CHECK(next_frame(line).size() > 1);
  CHECK(desk.connection().fds.size() == 8);
  desk.porter.close();
  desk.connections.clear();
  CHECK(count_descriptors() < before);
}

TEST_CASE("who goes away in the middle leaves nothing") {
  Desk desk(1, {"uds", "tcp"});
  desk.porter.start();
  const wire::Bytes whole = pack(make_hello(identity_of(2, {"uds", "tcp"}), 1));
  const std::ptrdiff_t before = count_descriptors();
  for (const Place& place : parse_address(desk.porter.address())) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{2}, std::size_t{4}, whole.size() / 2}) {
      GreetingLine line(dial(place).socket);
      line.put({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
      line.flush();
    }
  }
  // A whole one comes after those, so they have been seen.
  GreetingLine line(dial(parse_address(desk.porter.address())[0]).socket);
  line.put(whole);
  REQUIRE(line.flush());
  CHECK(next_frame(line).size() > 1);
  desk.porter.forget(desk.connection().peer);
  desk.porter.close();
  desk.connections.clear();
  line.take_socket();
  CHECK(count_descriptors() < before);
  CHECK(desk.failures.empty());
}

TEST_CASE("who is silent is dropped when its time is over") {
  Desk desk(1, {"uds"}, std::chrono::milliseconds(50));
  desk.porter.start();
  GreetingLine line(dial(parse_address(desk.porter.address())[0]).socket);
  const wire::Bytes whole = pack(make_hello(identity_of(2), 1));
  line.put({whole.begin(), whole.begin() + 30});
  REQUIRE(line.flush());
  CHECK(next_frame(line).empty());
}

TEST_CASE("of very many who are silent the first are dropped, and others let in") {
  Desk desk(1, {"uds"});
  Desk two(2, {"uds"});
  desk.porter.start();
  two.porter.start();
  std::vector<GreetingLine> crowd;
  for (std::size_t i = 0; i < Meetings::kIncomingMax + 10; ++i) {
    crowd.emplace_back(dial(parse_address(desk.porter.address())[0]).socket);
  }
  two.porter.connect(1, "worker1", desk.porter.address());
  CHECK(two.connection().transport == "uds");
  CHECK(next_frame(crowd[0]).empty());
  CHECK(next_frame(crowd[9]).empty());
  CHECK_FALSE(crowd[20].receive().has_value());
}

// Somebody who listens, and lets the test answer.
struct Stranger {
  Listener listener{true, ""};
  GreetingLine line;

  std::string address() const { return to_string(listener.address()); }
  void accept() {
    REQUIRE(wait_for_input(listener.fd(SocketKind::Uds)));
    line = GreetingLine(listener.accept(SocketKind::Uds));
  }
  void answer(wire::Bytes bytes) {
    accept();
    REQUIRE(next_frame(line).size() > 1);
    line.put(std::move(bytes));
    REQUIRE(line.flush());
  }
};

std::string failure_after(const wire::Bytes& answer, bool closes) {
  Desk desk(1, {"uds"});
  desk.porter.start();
  Stranger stranger;
  desk.porter.connect(2, "worker2", stranger.address());
  stranger.answer(answer);
  if (closes) stranger.line = GreetingLine();
  std::string text = desk.failure();
  const std::size_t at = text.find(stranger.address());
  REQUIRE(at != std::string::npos);
  return text.replace(at, stranger.address().size(), "uds:x");
}

Welcome welcome_of(WorkerId id, const std::string& transport) {
  Welcome welcome;
  welcome.worker = "worker" + std::to_string(id);
  welcome.id = id;
  welcome.pid = 1;
  welcome.transport = transport;
  return welcome;
}

TEST_CASE("who answers as no worker does is not believed") {
  const std::string lead = "worker2 (at uds:x) has not answered as a worker does: ";
  CHECK(failure_after(bytes_of("HTTP/1.1 400 Bad Request\r\n"), false) ==
        lead + "what has come is no worker's greeting: it would have 1347703880 bytes");
  CHECK(failure_after(bytes_of(std::string("\x01\0\0\0\x09", 5)), false) == lead + "what answers is no worker");
  CHECK(failure_after(pack(welcome_of(3, "uds")), false) == lead + "it is worker 3, worker3");
  CHECK(failure_after(pack(welcome_of(2, "shm")), false) == lead + "it has chosen shm, which was not offered");
  Welcome welcome = welcome_of(2, "uds");
  welcome.channels = {"ipc"};
  CHECK(failure_after(pack(welcome), false) == lead + "it has chosen ipc, which was not offered");
  welcome.version = kProtocolVersion + 1;
  CHECK(failure_after(pack(welcome), false) == lead + "it answers in version " + std::to_string(kProtocolVersion + 1));
  CHECK(failure_after(pack(Refusal{RefusalKind::Final, "no\nway\x1b[1m"}), false) ==
        "worker2 (at uds:x) refuses: no way\\x1b[1m");
}

TEST_CASE("who goes away instead of an answer is told") {
  const wire::Bytes whole = pack(welcome_of(2, "uds"));
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{4}, whole.size() - 1}) {
    CHECK(failure_after({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, true) ==
          "worker2 (at uds:x): the other side has closed the connection during the handshake");
  }
}

TEST_CASE("who is not there, or does not answer in time, is told with its place") {
  Desk desk(1, {"uds", "tcp"}, std::chrono::milliseconds(50));
  desk.porter.start();
  desk.porter.connect(2, "worker2", "uds:distrun-rpc-nobody");
  CHECK(desk.failure() == "worker2 can't be reached at uds:distrun-rpc-nobody: Connection refused (ECONNREFUSED)");
  desk.failures.clear();
  const Stranger stranger;
  desk.porter.connect(2, "worker2", stranger.address());
  CHECK(desk.failure() == "worker2 (at " + stranger.address() + ") did not answer the handshake within 50.0 ms");
  CHECK_THROWS_WITH(desk.porter.connect(2, "worker2", "http://x"),
                    "address \"http://x\" is no worker's: each part begins with uds: or tcp:");
}

TEST_CASE("nobody is there at the Unix socket, so TCP is taken") {
  Desk one(1, {"uds", "tcp"});
  Desk two(2, {"tcp"});
  one.porter.start();
  two.porter.start();
  one.porter.connect(2, "worker2", "uds:distrun-rpc-nobody;" + two.porter.address());
  CHECK(one.connection().transport == "tcp");
}

TEST_CASE("who was told to wait for the other one's connection does not wait for ever") {
  Desk desk(2, {"uds"}, std::chrono::milliseconds(50));
  desk.porter.start();
  Stranger stranger;
  desk.porter.connect(1, "worker1", stranger.address());
  stranger.answer(pack(Refusal{RefusalKind::Glare, "me first"}));
  CHECK_THAT(desk.failure(), Catch::EndsWith("did not answer the handshake within 50.0 ms"));
}

TEST_CASE("who waits for the other one's connection, and refuses that, has failed") {
  Desk desk(2, {"uds"});
  desk.reason = "it has left";
  desk.porter.start();
  Stranger stranger;
  desk.porter.connect(1, "worker1", stranger.address());
  stranger.answer(pack(Refusal{RefusalKind::Glare, "me first"}));
  CHECK(next_frame(stranger.line).empty());  // it has read that
  CHECK(refusal_to(pack(make_hello(identity_of(1), 2)), desk) == "it has left");
  CHECK(desk.failure() == "worker1 was refused: it has left");
}

TEST_CASE("a porter that is closed while others are at it leaves no descriptor") {
  const std::ptrdiff_t before = count_descriptors();
  for (const int state : {0, 1, 2, 3}) {
    Desk desk(1, {"uds"});
    desk.porter.start();
    Stranger stranger;
    desk.porter.connect(2, "worker2", stranger.address());
    GreetingLine client(dial(parse_address(desk.porter.address())[0]).socket);
    const wire::Bytes hello = pack(make_hello(identity_of(3), 1));
    if (state > 0) stranger.accept();
    if (state > 1) client.put({hello.begin(), hello.begin() + 10});
    if (state > 2) stranger.line.put(bytes_of(std::string("\x40\0\0\0\x02", 5)));
    client.flush();
    stranger.line.flush();
    desk.porter.close();
  }
  CHECK(count_descriptors() == before);
}

}  // namespace
}  // namespace distrun::agents::pipe

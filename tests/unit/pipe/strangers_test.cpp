// Peers of a handshake that are not workers, are slow, or disconnect.
#include <catch2/catch.hpp>

#include <sys/socket.h>

#include <climits>
#include <optional>

#include <agents/pipe/greeting_line.hpp>
#include <agents/pipe/io_thread.hpp>
#include <distrun/common/base/error.hpp>

#include "strangers.hpp"
#include "support/error_of.hpp"
#include "unit/support/limits.hpp"

namespace distrun::agents::pipe {
namespace {

using testing::bytes_of;
using testing::count_descriptors;
using testing::Desk;
using testing::dial_first;
using testing::identity_of;
using testing::next_frame;
using testing::open;
using testing::opening_of;
using testing::refusal_to;
using testing::refusal_to_hello;
using testing::say;
using testing::Stranger;

TEST_CASE("a peer that is not a worker of this session is refused, with the reason") {
  Desk desk(1, {"uds", "tcp"});
  desk.reason = "the desk is closed";
  desk.io_thread.start();
  const Identity own = identity_of(2);
  CHECK(refusal_to_hello(own, 1, desk) == "the desk is closed");

  Identity other = own;
  other.secret.back() = 'x';
  CHECK(refusal_to_hello(other, 1, desk) == "the peer does not know this session's secret");
  other.secret.clear();
  CHECK(refusal_to_hello(other, 1, desk) == "the peer does not know this session's secret");
  CHECK(refusal_to_hello(own, 1, desk, [](Hello& hello) { hello.proof.clear(); }) ==
        "the peer does not know this session's secret");

  Opening opening;
  opening.nonce = proof::make_nonce();
  opening.version = 7;
  CHECK(refusal_to(pack(opening), desk) == "this worker speaks version 6 of the protocol, but the peer speaks 7");
  opening.version = kProtocolVersion;
  opening.magic = 1;
  CHECK(refusal_to(pack(opening), desk) == "invalid greeting");
  CHECK(refusal_to(opening_of("short"), desk) == "invalid greeting");
  CHECK(refusal_to(pack(make_hello(own, 1, {opening.nonce, opening.nonce})), desk) == "invalid greeting");
  CHECK(refusal_to_hello(own, 3, desk) == "this is worker 1, not 3");
  CHECK(refusal_to_hello(identity_of(1), 1, desk) == "this is worker 1, too");
  CHECK(refusal_to_hello(own, 1, desk, [](Hello& hello) { hello.transports.resize(9); }) ==
        "it offers 9 transports, the limit is 8");

  CHECK(refusal_to(bytes_of("GET / HTTP/1.1\r\n\r\n"), desk) == "invalid greeting: its length is 542393671 bytes");
  CHECK(refusal_to(bytes_of(std::string(4, '\0')), desk) == "invalid greeting: its length is 0 bytes");
  CHECK(refusal_to(bytes_of(std::string("\x03\0\0\0abc", 7)), desk) == "invalid greeting");
  CHECK(desk.connections.empty());
}

TEST_CASE("too many files are refused") {
  Desk desk(1, {"uds"});
  desk.io_thread.start();
  GreetingLine line = dial_first(desk);
  CHECK_THROWS_WITH(line.put({}, std::vector<int>(9, 0)), "9 descriptors are too many for a greeting");
  const proof::Nonces nonces = open(line);
  const std::ptrdiff_t before = count_descriptors();
  line.put(pack(make_hello(identity_of(2), 1, nonces)), std::vector<int>(8, line.fd()));
  REQUIRE(line.flush());
  CHECK(next_frame(line).size() > 1);
  CHECK(desk.connection().fds.size() == 8);
  desk.io_thread.close();
  desk.connections.clear();
  CHECK(count_descriptors() < before);
}

TEST_CASE("a worker that has no descriptors left reports it, and does not blame its peer") {
  for (const int room : {0, 2}) {
    base::FdPair pair = base::make_socket_pair(SOCK_STREAM);
    GreetingLine peer(std::move(pair.first)), line(std::move(pair.second));
    const std::ptrdiff_t before = count_descriptors();
    peer.put(opening_of(proof::make_nonce()), std::vector<int>(3, peer.fd()));
    REQUIRE(peer.flush());
    std::optional<distrun::testing::FewFiles> few(std::in_place, room);
    const Error error = distrun::testing::error_of([&] { line.receive(); });
    CHECK(error.kind() == ErrorKind::Overloaded);
    CHECK_THAT(error.text(), Catch::StartsWith("process " + std::to_string(::getpid()) + " cannot receive") &&
                                 Catch::Contains("the limit of open files is " + std::to_string(few->limit()) +
                                                 " (RLIMIT_NOFILE); raise it"));
    few.reset();
    CHECK(count_descriptors() == before);
  }
}

TEST_CASE("a worker that has no descriptor for a connection says to which peer") {
  Desk one(1, {"uds"}), two(2, {"uds"});
  one.io_thread.start();
  const std::string address = two.io_thread.address();
  const distrun::testing::FewFiles none(0);
  one.io_thread.connect(2, "worker2", address);
  CHECK_THAT(one.failure(),
             Catch::StartsWith("cannot connect to worker2: cannot create a socket: ") && Catch::Contains("raise it"));
}

TEST_CASE("a peer that disconnects during the handshake leaves nothing behind") {
  Desk desk(1, {"uds", "tcp"});
  desk.io_thread.start();
  const Identity own = identity_of(2, {"uds", "tcp"});
  const auto part_of = [](const wire::Bytes& whole, std::size_t part) {
    return wire::Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(whole.size() * part / 4));
  };
  const std::ptrdiff_t before = count_descriptors();
  for (const Place& place : parse_address(desk.io_thread.address())) {
    for (const std::size_t part : {0U, 1U, 2U, 3U}) {
      GreetingLine early(dial(place).socket);
      say(early, part_of(opening_of(proof::make_nonce()), part));
      GreetingLine late(dial(place).socket);
      say(late, part_of(pack(make_hello(own, 1, open(late))), part));
    }
  }
  // A complete handshake follows, so the incomplete ones have been seen.
  GreetingLine line = dial_first(desk);
  say(line, pack(make_hello(own, 1, open(line))));
  CHECK(next_frame(line).size() > 1);
  desk.io_thread.forget(desk.connection().peer);
  desk.io_thread.close();
  desk.connections.clear();
  line.take_socket();
  CHECK(count_descriptors() < before);
  CHECK(desk.failures.empty());
}

TEST_CASE("a silent peer is dropped when it times out") {
  Desk desk(1, {"uds", "tcp"}, std::chrono::milliseconds(50));
  desk.io_thread.start();
  for (const Place& place : parse_address(desk.io_thread.address())) {
    GreetingLine early(dial(place).socket);
    const wire::Bytes opening = opening_of(proof::make_nonce());
    say(early, {opening.begin(), opening.begin() + 30});
    CHECK(next_frame(early).empty());
    GreetingLine late(dial(place).socket);
    const wire::Bytes hello = pack(make_hello(identity_of(2), 1, open(late)));
    say(late, {hello.begin(), hello.begin() + 30});
    CHECK(next_frame(late).empty());
  }
}

TEST_CASE("of very many silent peers the first are dropped, and others are accepted") {
  Desk desk(1, {"uds"});
  Desk two(2, {"uds"});
  desk.io_thread.start();
  two.io_thread.start();
  std::vector<GreetingLine> crowd;
  for (std::size_t i = 0; i < Meetings::kIncomingMax + 10; ++i) {
    crowd.emplace_back(dial(parse_address(desk.io_thread.address())[0]).socket);
  }
  two.io_thread.connect(1, "worker1", desk.io_thread.address());
  CHECK(two.connection().transport == "uds");
  CHECK(next_frame(crowd[0]).empty());
  CHECK(next_frame(crowd[9]).empty());
  CHECK_FALSE(crowd[20].receive().has_value());
}

std::string failure_after(const wire::Bytes& answer, bool closes) {
  Desk desk(1, {"uds"});
  desk.io_thread.start();
  Stranger stranger;
  desk.io_thread.connect(2, "worker2", stranger.address());
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

TEST_CASE("a peer with an invalid answer is not trusted") {
  const std::string lead = "worker2 (at uds:x) sent an invalid answer: ";
  CHECK(failure_after(bytes_of("HTTP/1.1 400 Bad Request\r\n"), false) ==
        lead + "invalid greeting: its length is 1347703880 bytes");
  CHECK(failure_after(bytes_of(std::string("\x01\0\0\0\x09", 5)), false) == lead + "the listener is not a worker");
  CHECK(failure_after(pack(welcome_of(3, "uds")), false) == lead + "it is worker 3, worker3");
  CHECK(failure_after(pack(welcome_of(2, "shm")), false) == lead + "it has chosen shm, which was not offered");
  Welcome welcome = welcome_of(2, "uds");
  welcome.channels = {"ipc"};
  CHECK(failure_after(pack(welcome), false) == lead + "it has chosen ipc, which was not offered");
  CHECK(failure_after(pack(Refusal{RefusalKind::Final, "no\nway\x1b[1m"}), false) ==
        "worker2 (at uds:x) refuses: no way\\x1b[1m");
}

TEST_CASE("a peer that disconnects instead of answering is reported") {
  const wire::Bytes whole = pack(welcome_of(2, "uds"));
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{4}, whole.size() - 1}) {
    CHECK(failure_after({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, true) ==
          "worker2 (at uds:x): the peer closed the connection during the handshake");
  }
}

TEST_CASE("a peer that does not exist, or does not answer in time, is reported with its address") {
  Desk desk(1, {"uds", "tcp"}, std::chrono::milliseconds(50));
  desk.io_thread.start();
  desk.io_thread.connect(2, "worker2", "uds:distrun-rpc-nobody");
  CHECK(desk.failure() == "worker2 cannot be reached at uds:distrun-rpc-nobody: Connection refused (ECONNREFUSED)");
  desk.failures.clear();
  const Stranger stranger;
  desk.io_thread.connect(2, "worker2", stranger.address());
  CHECK(desk.failure() == "worker2 (at " + stranger.address() + ") did not answer the handshake within 50.0 ms");
  CHECK_THROWS_WITH(desk.io_thread.connect(2, "worker2", "http://x"),
                    "address \"http://x\" is not a worker's: each part must begin with uds: or tcp:");
}

TEST_CASE("if no peer listens at the Unix socket, TCP is used") {
  Desk one(1, {"uds", "tcp"});
  Desk two(2, {"tcp"});
  one.io_thread.start();
  two.io_thread.start();
  one.io_thread.connect(2, "worker2", "uds:distrun-rpc-absent;" + two.io_thread.address());
  CHECK(one.connection().transport == "tcp");
}

TEST_CASE("a worker that is asked to wait for its peer's connection does not wait for ever") {
  Desk desk(2, {"uds"}, std::chrono::milliseconds(50));
  desk.io_thread.start();
  Stranger stranger;
  desk.io_thread.connect(1, "worker1", stranger.address());
  stranger.answer(pack(Refusal{RefusalKind::Glare, "me first"}));
  CHECK_THAT(desk.failure(), Catch::EndsWith("did not answer the handshake within 50.0 ms"));
}

TEST_CASE("a worker that waits for its peer's connection learns soon that the peer has exited") {
  Desk desk(2, {"uds"});
  desk.io_thread.start();
  auto stranger = std::make_unique<Stranger>();
  const std::string address = stranger->address();
  desk.io_thread.connect(1, "worker1", address);
  stranger->answer(pack(Refusal{RefusalKind::Glare, "me first"}));
  CHECK(next_frame(stranger->line).empty());  // it has read the answer
  stranger.reset();
  CHECK(desk.failure() == "worker1 cannot be reached at " + address + ": Connection refused (ECONNREFUSED)");
}

TEST_CASE("a worker that waits for its peer's connection dials again, in case the peer has given up") {
  Desk desk(2, {"uds"});
  desk.io_thread.start();
  Stranger stranger;
  desk.io_thread.connect(1, "worker1", stranger.address());
  stranger.answer(pack(Refusal{RefusalKind::Glare, "me first"}));
  CHECK(next_frame(stranger.line).empty());
  stranger.answer(pack(Refusal{RefusalKind::Final, "not now"}));
  CHECK_THAT(desk.failure(), Catch::EndsWith("refuses: not now"));
}

TEST_CASE("a worker that waits for its peer's connection, and refuses it, has failed") {
  Desk desk(2, {"uds"});
  desk.reason = "it has left";
  desk.io_thread.start();
  Stranger stranger;
  desk.io_thread.connect(1, "worker1", stranger.address());
  stranger.answer(pack(Refusal{RefusalKind::Glare, "me first"}));
  CHECK(next_frame(stranger.line).empty());  // it has read the answer
  CHECK(refusal_to_hello(identity_of(1), 2, desk) == "it has left");
  CHECK(desk.failure() == "worker1 was refused: it has left");
}

TEST_CASE("a refusal names the rank because of which its worker ends") {
  Desk refusing(1, {"uds", "tcp"});
  refusing.reason = "worker1 is closing: its test has ended, after the death of worker3";
  refusing.because_of = 3;
  refusing.io_thread.start();
  Desk dialing(2, {"uds"});
  dialing.io_thread.start();
  dialing.io_thread.connect(1, "worker1", refusing.io_thread.address());
  CHECK_THAT(dialing.failure(), Catch::EndsWith("is closing: its test has ended, after the death of worker3"));
  CHECK(dialing.causes.front() == 3);
}

TEST_CASE("a refusal with a rank that no test has names none") {
  for (const int rank : {-7, 1 << 16, INT_MAX}) {
    const wire::Bytes bytes = pack(Refusal{RefusalKind::Final, "no", rank});
    const Answer answer = read_answer(wire::view_of(bytes).substr(4));
    CHECK(std::get<Refusal>(answer).because_of == -1);
  }
}

TEST_CASE("an I/O thread that is closed while peers connect leaves no descriptor") {
  const std::ptrdiff_t before = count_descriptors();
  for (const int state : {0, 1, 2, 3, 4, 5}) {
    Desk desk(1, {"uds"});
    desk.io_thread.start();
    Stranger stranger;
    desk.io_thread.connect(2, "worker2", stranger.address());
    GreetingLine client = dial_first(desk);
    if (state > 0 && state < 4) stranger.accept();
    const wire::Bytes opening = opening_of(proof::make_nonce());
    if (state == 2) say(client, {opening.begin(), opening.begin() + 10});
    if (state > 2) say(client, pack(make_hello(identity_of(3), 1, open(client))));
    if (state > 3) stranger.challenge();
    if (state > 4) say(stranger.line, bytes_of(std::string("\x40\0\0\0\x02", 5)));
    desk.io_thread.close();
  }
  CHECK(count_descriptors() == before);
}

}  // namespace
}  // namespace distrun::agents::pipe

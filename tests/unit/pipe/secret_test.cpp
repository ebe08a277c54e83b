// Workers prove to each other that they know the session's secret, and never send it.
#include <catch2/catch.hpp>

#include <agents/pipe/io_thread.hpp>

#include "strangers.hpp"

namespace distrun::agents::pipe {
namespace {

using testing::Desk;
using testing::dial_first;
using testing::identity_of;
using testing::next_frame;
using testing::open;
using testing::refusal_on;
using testing::refusal_to;
using testing::say;
using testing::Stranger;

Desk& started(Desk& desk) {
  desk.io_thread.start();
  return desk;
}
std::string text_of(const wire::Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

wire::Bytes with_length(const std::string& text) {
  wire::ByteWriter writer;
  writer.number(static_cast<std::uint32_t>(text.size()));
  writer.append(text.data(), text.size());
  return writer.take();
}

// All that a worker sends to a listener that answers its Opening by this, and the resulting error.
struct Heard {
  std::string said;
  std::string error;
};
template <class Answer>
Heard hear_worker(SocketKind kind, const Answer& answer) {
  Desk desk(1, {name_of(kind)});
  Stranger stranger(kind);
  started(desk).io_thread.connect(2, "worker2", stranger.address());
  stranger.accept();
  const wire::Bytes opening = next_frame(stranger.line);
  say(stranger.line, answer(read_opening(wire::view_of(opening))));
  Heard heard{text_of(opening), desk.failure()};
  for (wire::Bytes next; !(next = next_frame(stranger.line)).empty();) heard.said += text_of(next);
  const std::size_t at = heard.error.find(stranger.address());
  REQUIRE(at != std::string::npos);
  heard.error.replace(at, stranger.address().size(), "ADDRESS");
  return heard;
}

TEST_CASE("a listener that does not know the secret is named by its address, and learns nothing useful") {
  const SocketKind kind = GENERATE(SocketKind::Uds, SocketKind::Tcp);
  Identity thief = identity_of(2);
  thief.secret = "a guess";
  const Heard heard = hear_worker(kind, [&](const Opening& opening) {
    return pack(make_challenge(thief, {opening.nonce, proof::make_nonce()}));
  });
  CHECK(heard.error == "worker2 (at ADDRESS) sent an invalid answer: it does not know this session's secret");
  CHECK(heard.said.size() < 64);
  CHECK(heard.said.find(identity_of(1).secret) == std::string::npos);

  // It knows only what it has received.
  Desk desk(3, {name_of(kind)});
  started(desk);
  for (const int guess : {0, 1, 2}) {
    GreetingLine line = dial_first(desk);
    say(line, with_length(heard.said));
    const auto challenge = std::get<Challenge>(read_answer(wire::view_of(next_frame(line))));
    Hello hello = make_hello(thief, 3, {std::string(32, 'n'), challenge.nonce});
    if (guess == 1) hello.proof = challenge.proof;
    if (guess == 2) hello.proof = heard.said.substr(heard.said.size() - proof::kProofSize);
    say(line, pack(hello));
    CHECK(refusal_on(line) == "the peer does not know this session's secret");
  }
}

TEST_CASE("a replayed Hello opens no other connection, and a replayed Challenge deceives no other worker") {
  const SocketKind kind = GENERATE(SocketKind::Uds, SocketKind::Tcp);
  Desk desk(2, {name_of(kind)});
  GreetingLine true_line = dial_first(started(desk));
  const proof::Nonces nonces = open(true_line);
  const wire::Bytes hello = pack(make_hello(identity_of(1, {name_of(kind)}), 2, nonces));
  say(true_line, hello);
  REQUIRE(std::holds_alternative<Welcome>(read_answer(wire::view_of(next_frame(true_line)))));

  GreetingLine line = dial_first(desk);
  Opening opening;
  opening.nonce = nonces.connector;
  say(line, pack(opening));
  (void)next_frame(line);
  say(line, hello);
  CHECK(refusal_on(line) == "the peer does not know this session's secret");
  const Heard heard = hear_worker(kind, [&](const Opening&) { return pack(make_challenge(identity_of(2), nonces)); });
  CHECK_THAT(heard.error, Catch::EndsWith("it does not know this session's secret"));
}

TEST_CASE("before a listener has proved that it knows the secret, only the text of its refusal is used") {
  const auto error_after = [](const wire::Bytes& answer) {
    return hear_worker(SocketKind::Uds, [&](const Opening&) { return answer; }).error;
  };
  const std::string lead = "worker2 (at ADDRESS) sent an invalid answer: ";
  Welcome welcome;
  welcome.worker = "worker2";
  welcome.id = 2;
  welcome.pid = 1;
  welcome.transport = "uds";
  CHECK(error_after(pack(welcome)) == lead + "it has not proved that it knows the session's secret");
  CHECK(error_after(pack(Challenge{"short", "x"})) == lead + "the listener is not a worker");
  for (const RefusalKind kind : {RefusalKind::Final, RefusalKind::Glare, RefusalKind::NoTransport}) {
    CHECK(error_after(pack(Refusal{kind, "no way"})) == "worker2 (at ADDRESS) refuses: no way");
  }
}

TEST_CASE("a second challenge is refused") {
  Desk desk(1, {"uds"});
  Stranger stranger;
  started(desk).io_thread.connect(2, "worker2", stranger.address());
  stranger.answer(pack(make_challenge(identity_of(2), {std::string(32, 'a'), std::string(32, 'b')})));
  CHECK_THAT(desk.failure(), Catch::EndsWith("it sent a second challenge"));
}

// Their first message contained the secret.
TEST_CASE("a worker of version 3 is refused with both versions") {
  Desk desk(1, {"uds", "tcp"});
  started(desk);
  wire::ByteWriter old;
  old.number(std::uint32_t{1 + 4 + 4 + 100});
  old.number(std::uint8_t{1});
  old.number(kProtocolMagic);
  old.number(std::uint32_t{3});
  wire::Bytes hello = old.take();
  hello.resize(hello.size() + 100);
  CHECK(refusal_to(hello, desk) == "this worker speaks version 6 of the protocol, but the peer speaks 3");
  const Heard heard = hear_worker(SocketKind::Tcp, [](const Opening&) {
    return pack(Refusal{RefusalKind::Final, "this worker speaks version 3 of the protocol, but the peer speaks 4"});
  });
  CHECK(heard.error ==
        "worker2 (at ADDRESS) refuses: this worker speaks version 3 of the protocol, but the peer speaks 4");
}

}  // namespace
}  // namespace distrun::agents::pipe

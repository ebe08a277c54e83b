#include <catch2/catch.hpp>

#include <distrun/runner/nodes/greeting.hpp>
#include <distrun/runner/nodes/messages.hpp>

#include "ends.hpp"
#include "joining.hpp"
#include "support/error_of.hpp"
#include "support/process.hpp"

namespace distrun::nodes {
namespace {

using namespace std::chrono_literals;
using joining::dial_to;
using joining::DialingNode;
using joining::Stage;
using testing::error_of;
using testing::run_for;

TEST_CASE("a node waits for a coordinator that is late") {
  std::uint16_t port = ends::RawListener().port();
  const DialingNode node(dial_to(port, "node01"));
  io::Loop quiet;
  run_for(quiet, 200ms);
  CHECK(!node.is_over());
  Listener::Settings settings;
  settings.port = port;
  Stage stage(settings);
  REQUIRE(stage.until([&] { return stage.joins.size() == 1; }));
  stage.links.clear();
}

TEST_CASE("a node that finds no coordinator says where it has looked, and what was wrong") {
  io::Loop loop;
  DialSettings settings = dial_to(ends::RawListener().port(), "node01");
  settings.patience = 200ms;
  const std::string place = "127.0.0.1:" + std::to_string(settings.places[0].port);
  CHECK(error_of([&] { dial(loop, settings); }).text() ==
        "cannot reach the coordinator at " + place + ": Connection refused (ECONNREFUSED); tried for 200.0 ms");
  settings.places.push_back({"no-such-host.invalid", 1});
  CHECK_THAT(error_of([&] { dial(loop, settings); }).text(),
             Catch::Contains("; at no-such-host.invalid:1: the host \"no-such-host.invalid\" has no address: "));
}

TEST_CASE("a node tells other programs at its coordinator's place from it, and tells them nothing") {
  const ends::RawListener listener;
  DialSettings settings = dial_to(listener.port(), "node01");
  settings.patience = 2s;
  const DialingNode node(settings);
  std::string why, heard;
  SECTION("a web server") {
    const base::Fd socket = listener.accept();
    heard = ends::hear(socket, kHelloSize);
    ends::say(socket, "HTTP/1.1 400 Bad Request\r\n\r\n");
    heard += ends::hear(socket, 1);
    why = ": it is not a coordinator of distrun";
  }
  SECTION("a coordinator of another version") {
    const base::Fd socket = listener.accept();
    heard = ends::hear(socket, kHelloSize);
    ends::say(socket, "dsnode+9");
    heard += ends::hear(socket, 1);
    why =
        ": it speaks version 9 of the protocol of nodes, this node version 1; use the same version of distrun on all "
        "hosts";
  }
  SECTION("one that guesses the proof") {
    const base::Fd socket = listener.accept();
    heard = ends::hear(socket, kHelloSize);
    ends::say(socket,
              std::string(kNodeHandshake.listener_magic) + std::string(proof::kNonceSize + proof::kProofSize, 'x'));
    heard += ends::hear(socket, 1);
    why = ": it does not know this run's secret";
  }
  REQUIRE(testing::eventually(30s, [&] { return node.is_over(); }));
  CHECK_THAT(node.error(),
             Catch::StartsWith("cannot join the run of the coordinator at 127.0.0.1:") && Catch::EndsWith(why));
  CHECK(heard.size() == kHelloSize);
}

TEST_CASE("a node that is slow to join is asked whether it is alive, and joins all the same") {
  const ends::RawListener listener;
  const DialingNode node(dial_to(listener.port(), "node01"));
  base::Fd socket = listener.accept();
  proof::ListenerGreeting greeting(kNodeHandshake, joining::kSecret);
  while (greeting.state() == proof::ListenerGreeting::State::Open) {
    ends::say(socket, greeting.take(ends::hear(socket, greeting.wanted())));
  }
  REQUIRE(greeting.state() == proof::ListenerGreeting::State::Welcome);
  for (const wire::Bytes& frame :
       {wire::pack(wire::NodeFrame::Ping, 0, Ping{1}), wire::pack(wire::NodeFrame::Ping, 0, Ping{2}),
        wire::pack(wire::NodeFrame::Joined, 0, Joined{joining::kVersion})}) {
    ends::say(socket, text_of(frame));
  }
  const std::size_t join_size = wire::pack(wire::NodeFrame::Join, 0, joining::join_of("node01")).size();
  CHECK(ends::hear(socket, join_size + wire::kFrameHeaderSize).size() == join_size + wire::kFrameHeaderSize);
  socket.reset();
  REQUIRE(testing::eventually(30s, [&] { return node.is_over(); }));
  CHECK(node.error().empty());
}

TEST_CASE("a node tries again if its coordinator closes the connection in the handshake") {
  const ends::RawListener listener;
  DialSettings settings = dial_to(listener.port(), "node01");
  settings.patience = 500ms;
  const DialingNode node(settings);
  ends::hear(listener.accept(), 1);
  const base::Fd second = listener.accept();
  CHECK(second);
  REQUIRE(testing::eventually(30s, [&] { return node.is_over(); }));
  CHECK_THAT(node.error(), Catch::StartsWith("cannot reach the coordinator at 127.0.0.1:") &&
                               Catch::EndsWith("; tried for 500.0 ms"));
}

TEST_CASE("a node gives up when its standard input says that the coordinator is gone") {
  base::FdPair input = base::make_pipe();
  DialSettings settings = dial_to(ends::RawListener().port(), "node01");
  settings.give_up = input.first.get();
  const DialingNode node(settings);
  input.second.reset();
  REQUIRE(testing::eventually(30s, [&] { return node.is_over(); }));
  CHECK_THAT(node.error(), Catch::StartsWith("the coordinator has ended"));
}

TEST_CASE("places are read from a list") {
  CHECK(parse_places("--join", "a:1,[::1]:65535") == std::vector<Place>{{"a", 1}, {"::1", 65535}});
  CHECK(text_of({"::1", 80}) == "[::1]:80");
  for (const char* text : {"", "a", "a:", ":1", "a:0", "a:65536", "a:1,", "::1:80", "[::1:80", "[]:1", "a:1x"}) {
    CAPTURE(text);
    CHECK_THAT(error_of([&] { parse_places("--join", text); }).text(), Catch::Contains("expected HOST:PORT"));
  }
}

}  // namespace
}  // namespace distrun::nodes

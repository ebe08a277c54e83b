#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

#include <distrun/runner/nodes/greeting.hpp>

#include "../support/limits.hpp"
#include "ends.hpp"
#include "joining.hpp"
#include "support/error_of.hpp"

namespace distrun::nodes {
namespace {

using namespace std::chrono_literals;
using joining::dial_to;
using joining::DialingNode;
using joining::join_of;
using joining::kSecret;
using joining::Stage;
using testing::error_of;
using testing::run_for;

TEST_CASE("nodes join, and each gets a link") {
  Stage stage;
  {
    const DialingNode first(dial_to(stage.port(), "node01")), second(dial_to(stage.port(), "node02"));
    REQUIRE(stage.until([&] { return stage.joins.size() == 2 && stage.frames == 2; }));
    CHECK(stage.listener->guests() == 0);
    const bool is_first = stage.joins[0].host == "node01";
    const Join& join = stage.joins[is_first ? 0 : 1];
    CHECK(join.hostname == "machine-of-node01");
    CHECK(join.pid == ::getpid());
    CHECK(join.addresses == std::vector<std::string>{"10.0.0.7"});
    CHECK(join.resources.host == "node01");
    CHECK(join.resources.cpus == 12);
    CHECK(join.resources.gpus == 2);
    CHECK(stage.links[0]->peer_address() == "127.0.0.1");
    stage.links.clear();
  }
  CHECK(stage.refused.empty());
}

TEST_CASE("a coordinator listens at all its addresses, and nodes find the one that works") {
  Listener::Settings settings;
  settings.addresses = {"127.0.0.1", "no-such-host.invalid", "127.0.0.2"};
  Stage stage(settings);
  REQUIRE(stage.listener->places().size() == 2);
  DialSettings dialling = dial_to(ends::RawListener().port(), "node01");  // no listener is there any more
  dialling.places.push_back(stage.listener->places()[1]);
  const DialingNode node(dialling);
  REQUIRE(stage.until([&] { return stage.joins.size() == 1; }));
  CHECK(stage.links[0]->local_address() == "127.0.0.2");
  stage.links.clear();
}

TEST_CASE("a coordinator that can listen nowhere says where and why") {
  io::Loop loop;
  Listener::Settings settings;
  settings.addresses = {"192.0.2.1"};  // of no machine
  CHECK_THAT(error_of([&] { Listener(loop, settings, {}); }).text(),
             Catch::StartsWith("cannot listen for nodes at 192.0.2.1: Cannot assign requested address"));
}

TEST_CASE("a node with another secret is refused, and learns that") {
  Stage stage;
  DialSettings settings = dial_to(stage.port(), "node01");
  settings.secret = "open barley";
  const DialingNode node(settings);
  REQUIRE(stage.until([&] { return node.is_over() && stage.listener->guests() == 0; }));
  CHECK(node.error() == "cannot join the run of the coordinator at 127.0.0.1:" + std::to_string(stage.port()) +
                            ": it does not know this run's secret");
  CHECK(stage.refused.empty());
  CHECK(stage.joins.empty());
}

TEST_CASE("a second node of a host, one of another host and one of another version are refused with a sentence") {
  Stage stage;
  const DialingNode first(dial_to(stage.port(), "node01"));
  REQUIRE(stage.until([&] { return stage.joins.size() == 1; }));
  DialSettings settings = dial_to(stage.port(), "node02");
  std::string why;
  SECTION("a second one") {
    settings.join.host = "node01";
    why = "a node of the host node01 has joined this run before";
  }
  SECTION("another host") {
    settings.join.host = "node07";
    why = "the host node07 is not part of this run, which has the hosts node01, node02";
  }
  SECTION("another version") {
    settings.join.version = "distrun 1.2.4";
    why =
        "distrun on node02 has the version distrun 1.2.4, the coordinator distrun 1.2.3; install the same version on "
        "all hosts";
  }
  {
    const DialingNode second(settings);
    REQUIRE(stage.until([&] { return second.is_over() && !stage.refused.empty(); }));
    CHECK_THAT(second.error(), Catch::StartsWith("cannot join the run of the coordinator") && Catch::EndsWith(why));
  }
  CHECK(stage.refused == std::vector<std::string>{"a node at 127.0.0.1 was refused: " + why});
  CHECK(stage.joins.size() == 1);
  CHECK(stage.lost.empty());
  stage.links.clear();
}

// Records what a node sends in its handshake, as an eavesdropper can.
std::string recorded_handshake(Stage& stage) {
  const base::Fd socket = ends::connected_to(stage.port());
  NodeGreeting greeting(kSecret);
  std::string sent = greeting.hello();
  ends::say(socket, sent);
  std::string answer;
  REQUIRE(stage.until([&] { return (answer += ends::heard(socket)).size() >= kAnswerSize; }));
  greeting.take(std::string_view(answer).substr(0, kMagicSize));
  const std::string proof = greeting.take(std::string_view(answer).substr(kMagicSize));
  REQUIRE(proof.size() == proof::kProofSize);
  ends::say(socket, proof);
  std::string verdict;
  REQUIRE(stage.until([&] { return !(verdict += ends::heard(socket)).empty(); }));
  REQUIRE(verdict == "y");
  return sent + proof;
}

TEST_CASE("a recorded handshake opens nothing") {
  Stage stage;
  const std::string recorded = recorded_handshake(stage);
  CHECK(recorded.find(kSecret) == std::string::npos);
  const base::Fd thief = ends::connected_to(stage.port());
  ends::say(thief, recorded);
  std::string answer;
  REQUIRE(stage.until([&] { return (answer += ends::heard(thief)).size() > kAnswerSize; }));
  CHECK(answer.substr(kAnswerSize) == "n");
  REQUIRE(stage.until([&] { return ends::is_closed(thief); }));
  CHECK(stage.joins.empty());
}

TEST_CASE("a node that proves the secret and then says nonsense, or nothing, is refused") {
  Listener::Settings settings;
  settings.patience = 300ms;
  Stage stage(settings);
  const base::Fd socket = ends::connected_to(stage.port());
  NodeGreeting greeting(kSecret);
  ends::say(socket, greeting.hello());
  std::string answer;
  REQUIRE(stage.until([&] { return (answer += ends::heard(socket)).size() >= kAnswerSize; }));
  greeting.take(std::string_view(answer).substr(0, kMagicSize));
  std::string proof = greeting.take(std::string_view(answer).substr(kMagicSize));
  const auto with = [&](const wire::Bytes& frame) {
    return proof.append(reinterpret_cast<const char*>(frame.data()), frame.size());
  };
  std::string why;
  SECTION("nothing") { why = "did not join within 300.0 ms after its proof of the secret"; }
  SECTION("another frame") {
    with(wire::pack_frame(wire::NodeFrame::Joined, 0, {}));
    why = "ended before it joined: sent nonsense: the first frame of a node is not Join";
  }
  SECTION("a host that is no name") {
    Join join = join_of("node01");
    join.host = "\x1b[31m";
    with(wire::pack(wire::NodeFrame::Join, 0, join));
    why = "ended before it joined: sent nonsense: a join message with impossible contents";
  }
  SECTION("a join with too many addresses") {
    Join join = join_of("node01");
    join.addresses.assign(1000, "::1");
    with(wire::pack(wire::NodeFrame::Join, 0, join));
    why = "a join message with impossible contents";
  }
  SECTION("a host without a CPU") {
    Join join = join_of("node01");
    join.resources.cpus = 0;
    with(wire::pack(wire::NodeFrame::Join, 0, join));
    why = "a join message with impossible contents";
  }
  SECTION("half a join") {
    wire::Bytes join = wire::pack(wire::NodeFrame::Join, 0, join_of("node01"));
    join.resize(join.size() / 2);
    with(join);
    why = "did not join within 300.0 ms";
  }
  ends::say(socket, proof);
  REQUIRE(stage.until([&] { return !stage.refused.empty(); }));
  CHECK_THAT(stage.refused[0], Catch::Contains(why));
  REQUIRE(stage.until([&] { return ends::is_closed(socket); }));
  CHECK(stage.joins.empty());
  CHECK(stage.listener->guests() == 0);
}

TEST_CASE("strangers get no answer, and do not keep nodes out") {
  Stage stage;
  SECTION("one that speaks another protocol") {
    const base::Fd stranger = ends::connected_to(stage.port());
    ends::say(stranger, "GET / HTTP/1.1\r\n\r\n");
    REQUIRE(stage.until([&] { return ends::is_closed(stranger); }));
  }
  SECTION("a node of another version, which gets the version") {
    const base::Fd other = ends::connected_to(stage.port());
    ends::say(other, "dsnode-0");
    std::string answer;
    REQUIRE(stage.until([&] { return (answer += ends::heard(other)).size() >= kMagicSize; }));
    CHECK(answer == kNodeHandshake.listener_magic);
    REQUIRE(stage.until([&] { return ends::is_closed(other); }));
  }
  SECTION("random bytes") {
    for (unsigned seed = 1; seed <= 60; ++seed) {
      std::mt19937 random(seed);
      std::string bytes(1 + random() % 200, '\0');
      for (char& byte : bytes) byte = static_cast<char>(random());
      if (seed % 2 == 0) bytes.replace(0, kMagicSize, kNodeHandshake.connector_magic);
      const base::Fd stranger = ends::connected_to(stage.port());
      ends::say(stranger, bytes);
      stage.listen();
    }
  }
  const DialingNode node(dial_to(stage.port(), "node01"));
  REQUIRE(stage.until([&] { return stage.joins.size() == 1 && stage.frames == 1; }));
  REQUIRE(stage.until([&] { return stage.listener->guests() == 0; }));
  CHECK(stage.refused.empty());
  stage.links.clear();
}

TEST_CASE("connections that say nothing, or a byte now and then, are few and end soon") {
  Listener::Settings settings;
  settings.patience = 1s;
  Stage stage(settings);
  std::vector<base::Fd> idle;
  for (int i = 0; i < 100; ++i) {
    idle.push_back(ends::connected_to(stage.port()));
    stage.listen();
  }
  CHECK(stage.listener->guests() == 64);
  CHECK(ends::is_closed(idle[0]));
  CHECK(!ends::is_closed(idle[99]));
  const DialingNode node(dial_to(stage.port(), "node01"));
  REQUIRE(stage.until([&] { return stage.joins.size() == 1; }));
  const std::string slow(kNodeHandshake.connector_magic);
  for (const char byte : slow) {
    ends::say(idle[99], {&byte, 1});
    run_for(stage.loop, 50ms);
  }
  REQUIRE(stage.until([&] { return ends::is_closed(idle[99]); }));
  CHECK(stage.listener->guests() == 0);
  stage.links.clear();
}

TEST_CASE("connections for which no descriptor is left are dropped, and later ones are not") {
  Stage stage;
  std::vector<base::Fd> sockets;
  for (int i = 0; i < 5; ++i) sockets.push_back(ends::raw_socket());
  {
    const testing::FewFiles few(0);
    for (const base::Fd& socket : sockets) REQUIRE(ends::connect_to(socket, stage.port()));
    REQUIRE(stage.until([&] { return std::all_of(sockets.begin(), sockets.end(), ends::is_closed); }));
  }
  const DialingNode node(dial_to(stage.port(), "node01"));
  REQUIRE(stage.until([&] { return stage.joins.size() == 1; }));
  stage.links.clear();
}

}  // namespace
}  // namespace distrun::nodes

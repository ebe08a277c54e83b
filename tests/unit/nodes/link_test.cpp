#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/nodes/link.hpp>
#include <distrun/runner/nodes/link_messages.hpp>
#include <distrun/runner/nodes/silence.hpp>
#include <distrun/runner/nodes/tcp_state.hpp>

#include "../support/forked.hpp"
#include "../support/loop.hpp"
#include "ends.hpp"
#include "support/error_of.hpp"
#include "support/process.hpp"

namespace distrun::nodes {
namespace {

using namespace std::chrono_literals;
using testing::error_of;
using testing::run_for;
using testing::run_until;
using wire::NodeFrame;

constexpr auto kFrame = NodeFrame::Joined;  // stands for any frame with contents

wire::Bytes frame_with(std::string_view text) {
  return wire::pack_frame(kFrame, 0, wire::view_of(text.data(), text.size()));
}
std::string text_of(const wire::Frame& frame) {
  return {reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size()};
}

// A link, and what it has told.
struct End {
  End(io::Loop& loop, base::Fd socket, const LinkSettings& settings = {})
      : link(std::make_unique<Link>(loop, std::move(socket), settings)) {}
  void follow() {
    Link::Handlers handlers;
    handlers.on_frame = [this](const wire::Frame& frame) { texts.push_back(text_of(frame)); };
    handlers.on_lost = [this](const std::string& why) { lost.push_back(why); };
    link->follow(std::move(handlers));
  }

  std::unique_ptr<Link> link;
  std::vector<std::string> texts;
  std::vector<std::string> lost;
};

// Two links on one loop.
struct Two {
  explicit Two(const LinkSettings& settings = {}) : Two(ends::tcp_pair(), settings) {}
  Two(base::FdPair pair, const LinkSettings& settings)
      : a(loop, std::move(pair.first), settings), b(loop, std::move(pair.second), settings) {
    a.follow();
    b.follow();
  }
  io::Loop loop;
  End a, b;
};

// One link to an end that the test plays.
struct OneSided {
  explicit OneSided(const LinkSettings& settings = {}) : OneSided(ends::tcp_pair(), settings) {}
  OneSided(base::FdPair pair, const LinkSettings& settings)
      : end(loop, std::move(pair.first), settings), peer(std::move(pair.second)) {
    end.follow();
  }
  bool until_lost() {
    return run_until(loop, [&] { return !end.lost.empty(); });
  }
  io::Loop loop;
  End end;
  base::Fd peer;
};

LinkSettings quick() {
  LinkSettings settings;
  settings.look_every = 20ms;
  settings.ping_after = 40ms;
  settings.host_silent = 10s;
  settings.process_silent = 300ms;
  return settings;
}

TEST_CASE("frames of a link arrive in order, both ways") {
  Two two;
  for (int i = 0; i < 1000; ++i) {
    two.a.link->send(frame_with("a" + std::to_string(i)));
    two.b.link->send(frame_with("b" + std::to_string(i)));
  }
  REQUIRE(run_until(two.loop, [&] { return two.a.texts.size() == 1000 && two.b.texts.size() == 1000; }));
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(two.a.texts[static_cast<std::size_t>(i)] == "b" + std::to_string(i));
    REQUIRE(two.b.texts[static_cast<std::size_t>(i)] == "a" + std::to_string(i));
  }
  CHECK(two.a.lost.empty());
  CHECK(two.a.link->peer_address() == "127.0.0.1");
  CHECK(two.a.link->local_address() == "127.0.0.1");
}

TEST_CASE("a frame as large as the limit arrives") {
  LinkSettings settings;
  settings.payload_max = 8 << 20;
  Two two(settings);
  two.a.link->send(frame_with(std::string(settings.payload_max, 'x')));
  REQUIRE(run_until(two.loop, [&] { return !two.b.texts.empty(); }));
  CHECK(two.b.texts[0].size() == settings.payload_max);
}

TEST_CASE("frames and a loss wait for handlers, in order") {
  io::Loop loop;
  base::FdPair pair = ends::tcp_pair();
  End a(loop, std::move(pair.first));
  auto b = std::make_unique<Link>(loop, std::move(pair.second));
  b->send(frame_with("one"));
  b->send(frame_with("two"));
  run_for(loop, 20ms);
  b->send(frame_with("three"));
  b.reset();
  REQUIRE(run_until(loop, [&] { return a.link->is_lost(); }));
  CHECK(a.texts.empty());
  a.follow();
  CHECK(a.texts.empty());
  REQUIRE(run_until(loop, [&] { return !a.lost.empty(); }));
  CHECK(a.texts == std::vector<std::string>{"one", "two", "three"});
  CHECK(a.lost == std::vector<std::string>{"closed"});
}

TEST_CASE("a peer that sends many frames before anybody follows them is lost") {
  OneSided one;
  one.end.link->follow({});
  for (int i = 0; i < 100; ++i) {
    const wire::Bytes bytes = frame_with("x");
    ends::say(one.peer, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  REQUIRE(run_until(one.loop, [&] { return one.end.link->is_lost(); }));
}

TEST_CASE("a link that is closed by its peer is lost at once, after what it has said") {
  Two two;
  two.a.link->send(frame_with("last words"));
  two.a.link.reset();
  REQUIRE(run_until(
      two.loop, [&] { return !two.b.lost.empty(); }, 500ms));
  CHECK(two.b.texts == std::vector<std::string>{"last words"});
  CHECK(two.b.lost == std::vector<std::string>{"closed"});
  CHECK(two.b.link->is_lost());
  two.b.link->send(frame_with("not heard by any peer"));
}

TEST_CASE("a peer that sends nonsense is lost with the reason") {
  OneSided one;
  std::string why;
  SECTION("an unknown kind") {
    ends::say(one.peer, std::string("\x04\0\0\0\x07\0\0\0abcd", 12));
    why = "sent nonsense: the received bytes are not a distrun message (unknown frame kind 7)";
  }
  SECTION("a frame that is too large") {
    ends::say(one.peer, std::string("\0\0\0\x10\x30\x01\0\0", 8));
    why = "sent nonsense: a frame announces 268435456 bytes";
  }
  SECTION("a ping with too few bytes") {
    ends::say(one.peer, std::string("\x01\0\0\0\x2c\x01\0\0a", 9));
    why = "sent nonsense: ";
  }
  REQUIRE(one.until_lost());
  CHECK_THAT(one.end.lost[0], Catch::StartsWith(why));
  CHECK(run_until(one.loop, [&] { return ends::is_closed(one.peer); }));
}

TEST_CASE("a frame that its handler refuses ends the link") {
  OneSided one;
  Link::Handlers handlers;
  handlers.on_frame = [](const wire::Frame&) { throw Error(ErrorKind::InvalidArgument, "a world of -1 ranks"); };
  handlers.on_lost = [&](const std::string& why) { one.end.lost.push_back(why); };
  one.end.link->follow(std::move(handlers));
  const wire::Bytes bytes = frame_with("x");
  ends::say(one.peer, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  REQUIRE(one.until_lost());
  CHECK(one.end.lost == std::vector<std::string>{"sent nonsense: a world of -1 ranks"});
}

TEST_CASE("random bytes end a link, and harm nothing") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    OneSided one;
    std::string bytes(1 + random() % 3000, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (seed % 2 == 0) {  // begins like a frame
      const wire::Bytes good = wire::pack_frame(static_cast<std::uint16_t>(298 + random() % 60), 0, {});
      bytes.replace(0, good.size(), reinterpret_cast<const char*>(good.data()), good.size());
    }
    ends::say(one.peer, bytes);
    one.peer.reset();
    REQUIRE(one.until_lost());
  }
}

TEST_CASE("handlers may destroy the link") {
  OneSided one;
  bool is_told = false;
  Link::Handlers handlers;
  SECTION("while it handles a frame, before another") {
    handlers.on_frame = [&](const wire::Frame&) {
      REQUIRE(one.end.link != nullptr);
      one.end.link.reset();
      is_told = true;
    };
    wire::Bytes bytes = frame_with("x");
    const wire::Bytes more = frame_with("y");
    bytes.insert(bytes.end(), more.begin(), more.end());
    ends::say(one.peer, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  SECTION("when it is lost") {
    handlers.on_frame = [](const wire::Frame&) {};
    handlers.on_lost = [&](const std::string&) {
      one.end.link.reset();
      is_told = true;
    };
    one.peer.reset();
  }
  one.end.link->follow(std::move(handlers));
  REQUIRE(run_until(one.loop, [&] { return is_told; }));
  run_for(one.loop, 20ms);
  CHECK((!one.peer || ends::is_closed(one.peer)));
}

TEST_CASE("links that have nothing to say stay, and know each other's clock") {
  Two two(quick());
  REQUIRE(run_until(two.loop, [&] { return two.a.link->offset() && two.b.link->offset(); }));
  const Offset offset = *two.a.link->offset();
  CHECK(std::abs(offset.offset.count()) <= offset.error.count());
  CHECK(offset.error < 20ms);
  run_for(two.loop, 700ms);
  CHECK(two.a.lost.empty());
  CHECK(two.b.lost.empty());
}

TEST_CASE("a process that is silent is lost, although its host confirms what it gets") {
  OneSided one(quick());
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(one.until_lost());
  CHECK(one.end.lost ==
        std::vector<std::string>{"silent for 300.0 ms: its process does not run, but its host answers"});
  CHECK(std::chrono::steady_clock::now() - begin >= 280ms);
}

TEST_CASE("bytes of a frame that is not complete are a sign of life") {
  OneSided one(quick());
  const wire::Bytes bytes = frame_with(std::string(100, 'x'));
  for (std::size_t i = 0; i < 20; ++i) {
    ends::say(one.peer, {reinterpret_cast<const char*>(bytes.data()) + i, 1});
    run_for(one.loop, 50ms);
  }
  CHECK(one.end.lost.empty());
}

TEST_CASE("a link is not lost because its own loop was late") {
  Two two(quick());
  run_for(two.loop, 100ms);
  for (int i = 0; i < 2; ++i) {
    testing::pause_for(400ms);
    testing::run_ready(two.loop);
  }
  run_for(two.loop, 200ms);
  CHECK(two.a.lost.empty());
  CHECK(two.b.lost.empty());
}

// Forks a process with a link to this one. Its exit code: 0 if the link is closed at the end, as it should be.
pid_t fork_peer(base::FdPair& pair, const LinkSettings& settings) {
  const pid_t child = testing::fork_child([&] {
    pair.first.reset();
    io::Loop loop;
    End end(loop, std::move(pair.second), settings);
    end.follow();
    const bool is_over = run_until(loop, [&] { return !end.lost.empty(); });
    return is_over && end.lost[0] == "closed" ? 0 : 1;
  });
  pair.second.reset();
  return child;
}

TEST_CASE("a stopped process is lost, and is not misled itself once it goes on") {
  base::FdPair pair = ends::tcp_pair();
  const pid_t child = fork_peer(pair, quick());
  io::Loop loop;
  SECTION("the peer of the stopped process") {
    End end(loop, std::move(pair.first), quick());
    end.follow();
    run_for(loop, 400ms);
    CHECK(end.lost.empty());
    ::kill(child, SIGSTOP);
    REQUIRE(run_until(loop, [&] { return !end.lost.empty(); }));
    CHECK_THAT(end.lost[0], Catch::StartsWith("silent for 300.0 ms: its process does not run"));
    ::kill(child, SIGKILL);
    CHECK(testing::wait_for(child).signal == SIGKILL);
  }
  SECTION("the stopped process") {
    LinkSettings patient = quick();
    patient.process_silent = 30s;
    End end(loop, std::move(pair.first), patient);
    end.follow();
    run_for(loop, 200ms);
    ::kill(child, SIGSTOP);
    run_for(loop, 1s);
    ::kill(child, SIGCONT);
    run_for(loop, 300ms);
    CHECK(end.lost.empty());
    end.link.reset();
    CHECK(testing::wait_for(child).code == 0);
  }
}

TEST_CASE("a killed process is lost at once") {
  base::FdPair pair = ends::tcp_pair();
  const pid_t child = fork_peer(pair, quick());
  io::Loop loop;
  End end(loop, std::move(pair.first));
  end.follow();
  run_for(loop, 50ms);
  ::kill(child, SIGKILL);
  REQUIRE(run_until(
      loop, [&] { return !end.lost.empty(); }, 1s));
  CHECK(end.lost[0] == "closed");
  testing::wait_for(child);
}

TEST_CASE("a peer that does not read gets a bounded number of bytes") {
  LinkSettings settings = quick();
  settings.queue_max = 1 << 20;
  OneSided one(settings);
  const auto flood = [&] {
    for (int i = 0; i < 1000; ++i) one.end.link->send(frame_with(std::string(100'000, 'x')));
  };
  const Error error = error_of(flood);
  CHECK(error.kind() == ErrorKind::Overloaded);
  CHECK(one.end.lost.empty());
  REQUIRE(one.until_lost());
  CHECK_THAT(one.end.lost[0], Catch::StartsWith("silent for 300.0 ms"));
}

TEST_CASE("a process that does not read for a while is not taken for a host that vanished") {
  LinkSettings settings = quick();
  settings.host_silent = 200ms;
  settings.process_silent = 30s;
  settings.queue_max = 8 << 20;
  OneSided one(settings);
  error_of([&] {
    for (;;) one.end.link->send(frame_with(std::string(100'000, 'x')));
  });
  run_for(one.loop, 2s);
  CHECK(one.end.lost.empty());
}

TEST_CASE("silence is counted in looks") {
  Silence silence(250ms, 100ms);
  silence.count(false);
  silence.count(false);
  CHECK(!silence.is_too_long());
  silence.count(false);
  CHECK(silence.is_too_long());
  silence.count(true);
  CHECK(!silence.is_too_long());
  CHECK(silence.text() == "silent for 250.0 ms");
}

TEST_CASE("the kernel knows what has arrived, and whether the peer's host confirms") {
  base::FdPair pair = ends::tcp_pair();
  REQUIRE(tcp_state_of(pair.first.get()));
  CHECK(tcp_state_of(pair.first.get())->received == 0);
  ends::say(pair.second, "12345");
  CHECK(testing::eventually(10s, [&] {
    const auto first = tcp_state_of(pair.first.get());
    const auto second = tcp_state_of(pair.second.get());
    return first->received == 5 && !second->expects_answer;
  }));
  CHECK(tcp_state_of(pair.first.get())->since_heard < 10s);
  CHECK(!tcp_state_of(-1));
}

}  // namespace
}  // namespace distrun::nodes

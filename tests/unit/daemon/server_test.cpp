// The daemon with real sockets: clients that keep to the protocol, and clients that do not.
#include <catch2/catch.hpp>

#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <list>

#include <distrun/runner/daemon/listener.hpp>
#include <distrun/runner/daemon/server.hpp>

#include <distrun/common/wire/inspect.hpp>
#include "../support/forked.hpp"

#include "../support/loop.hpp"
#include "raw_client.hpp"
#include "support/scratch.hpp"
#include "support/skip.hpp"

using namespace distrun;
using namespace distrun::testing;
using wire::DaemonFrame;
using wire::InspectFrame;

namespace {

daemon::ServerOptions options(int connections_max = 200) {
  daemon::ServerOptions options;
  options.program = kShell;
  options.version = "1.2.3";
  options.limits = {1, 2};
  options.connections_max = connections_max;
  return options;
}

struct Serving {
  explicit Serving(daemon::ServerOptions with = options())
      : listener(scratch.path() + "/d.sock"),
        server(loop, listener.take_socket(), std::move(with), [this] { over = true; }) {}
  ~Serving() {  // a run must not outlive its test
    server.stop();
    run_until(loop, [&] { return over; });
  }

  RawClient& client() { return clients.emplace_back(scratch.path() + "/d.sock"); }
  bool gets(RawClient& from, DaemonFrame kind) {
    return run_until(loop, [&] { return from.listen() || from.find(kind) != nullptr; }) && from.find(kind) != nullptr;
  }
  bool is_closed(RawClient& from) {
    return run_until(loop, [&] { return from.listen(); });
  }
  // Checks that another client is served meanwhile.
  bool answers() {
    RawClient& other = client();
    other.hello();
    other.ask();
    return gets(other, DaemonFrame::Status);
  }

  io::Loop loop;
  Scratch scratch;
  daemon::Listener listener;
  bool over = false;
  std::list<RawClient> clients;
  daemon::Server server;
};

}  // namespace

TEST_CASE("a client learns that its run is accepted, has started and has ended") {
  Serving stage;
  Place place;
  RawClient& client = stage.client();
  client.submit("echo done; exit 5", place);
  REQUIRE(stage.gets(client, DaemonFrame::RunEnded));
  CHECK(client.read<wire::RunAccepted>(DaemonFrame::RunAccepted).run_id.size() == 12);
  CHECK(client.read<wire::RunStarted>(DaemonFrame::RunStarted).pid > 0);
  CHECK(client.read<wire::RunEnded>(DaemonFrame::RunEnded).exit_code == 5);
  CHECK(stage.is_closed(client));
  CHECK(place.written() == "done\n");
}

TEST_CASE("the daemon reports its status") {
  Serving stage;
  Place place;
  RawClient& first = stage.client();
  first.submit("exec sleep 100", place);
  REQUIRE(stage.gets(first, DaemonFrame::RunStarted));
  RawClient& second = stage.client();
  second.submit("exit 0", place);
  REQUIRE(stage.gets(second, DaemonFrame::RunAccepted));
  CHECK(second.read<wire::RunAccepted>(DaemonFrame::RunAccepted).ahead == 1);
  RawClient& asks = stage.client();
  asks.hello();
  asks.ask();
  REQUIRE(stage.gets(asks, DaemonFrame::Status));
  const auto status = asks.read<wire::DaemonStatus>(DaemonFrame::Status);
  CHECK(status.version == "1.2.3");
  CHECK(status.pid == ::getpid());
  CHECK(status.parallel == 1);
  CHECK(status.queued_max == 2);
  CHECK(status.done == 0);
  REQUIRE(status.runs.size() == 2);
  CHECK(status.runs[0].pid == first.read<wire::RunStarted>(DaemonFrame::RunStarted).pid);
}

TEST_CASE("a client of another version is refused, with advice") {
  Serving stage;
  RawClient& client = stage.client();
  client.hello(wire::kDaemonAbi + 1);
  REQUIRE(stage.is_closed(client));
  CHECK_THAT(client.refusal(), Catch::Contains("version") && Catch::Contains("start the distrund"));
}

TEST_CASE("a client that breaks the protocol loses its connection, and no other client does") {
  const wire::Bytes garbage(100, std::byte{0xff});
  const wire::Bytes zeros(8, std::byte{0});
  const wire::Bytes hello = wire::pack(DaemonFrame::Hello, 0, wire::DaemonHello{});
  const auto after_hello = [&](const wire::Bytes& bytes) {
    wire::Bytes both = hello;
    both.insert(both.end(), bytes.begin(), bytes.end());
    return both;
  };
  wire::Bytes too_large = wire::pack_frame(DaemonFrame::SubmitRun, 0, {});
  too_large[3] = std::byte{1};  // announces 16 MiB
  const wire::Bytes cut = wire::pack_frame(DaemonFrame::SubmitRun, 0, wire::view_of(wire::Bytes(3)));
  const auto bytes = GENERATE_COPY(values<wire::Bytes>(
      {garbage, zeros, wire::pack_frame(DaemonFrame::AskStatus, 0, {}), after_hello(hello), after_hello(garbage),
       after_hello(too_large), after_hello(cut), after_hello(wire::pack_frame(InspectFrame::RunStatus, 0, {})),
       after_hello(wire::pack(DaemonFrame::SubmitRun, 0, order("exit 0"))),
       after_hello(wire::pack(DaemonFrame::SignalRun, 0, wire::RunSignal{SIGINT}))}));
  Serving stage;
  Place place;
  RawClient& good = stage.client();
  good.submit("exec sleep 100", place);
  REQUIRE(stage.gets(good, DaemonFrame::RunStarted));
  RawClient& client = stage.client();
  client.send(bytes);
  CHECK(stage.is_closed(client));
  CHECK(stage.answers());
  CHECK_FALSE(good.listen());
}

TEST_CASE("a run comes with exactly three descriptors") {
  Serving stage;
  Place place;
  std::vector<base::Fd> two = place.descriptors();
  two.pop_back();
  RawClient& client = stage.client();
  client.hello_with(two);
  client.send(wire::pack(DaemonFrame::SubmitRun, 0, order("exit 0")));
  REQUIRE(stage.is_closed(client));
  CHECK_THAT(client.refusal(), Catch::Contains("3 descriptors, not 2"));
  std::vector<base::Fd> many = place.descriptors();
  for (base::Fd& more : place.descriptors()) many.push_back(std::move(more));
  RawClient& other = stage.client();
  other.hello_with(many);
  CHECK(stage.is_closed(other));
}

TEST_CASE("a connection carries one run, and only signals of a terminal") {
  Serving stage;
  Place place;
  RawClient& client = stage.client();
  client.submit("exec sleep 100", place);
  REQUIRE(stage.gets(client, DaemonFrame::RunStarted));
  const bool again = GENERATE(true, false);
  if (again) client.send(wire::pack(DaemonFrame::SubmitRun, 0, order("exit 0")));
  if (!again) client.send(wire::pack(DaemonFrame::SignalRun, 0, wire::RunSignal{SIGKILL}));
  REQUIRE(stage.is_closed(client));
  CHECK_THAT(client.refusal(), Catch::Contains(again ? "one run" : "signal 9 cannot be sent"));
}

TEST_CASE("a full queue refuses") {
  Serving stage;
  Place place;
  for (int i = 0; i < 3; ++i) {
    RawClient& client = stage.client();
    client.submit("exec sleep 100", place);
    REQUIRE(stage.gets(client, i == 0 ? DaemonFrame::RunStarted : DaemonFrame::RunAccepted));
  }
  RawClient& late = stage.client();
  late.submit("exit 0", place);
  REQUIRE(stage.is_closed(late));
  CHECK_THAT(late.refusal(), Catch::Contains("2 runs are queued"));
}

TEST_CASE("a client over the limit of connections is refused with the reason") {
  Serving stage(options(1));
  Place place;
  RawClient& first = stage.client();
  first.submit("exec sleep 100", place);
  REQUIRE(stage.gets(first, DaemonFrame::RunStarted));
  RawClient& second = stage.client();
  REQUIRE(stage.is_closed(second));
  CHECK_THAT(second.refusal(), Catch::Contains("1 connections, which is the limit"));
}

TEST_CASE("a client that disconnects ends its run, and the next run starts") {
  Serving stage;
  Place place;
  RawClient& running = stage.client();
  running.submit("exec sleep 100", place);
  REQUIRE(stage.gets(running, DaemonFrame::RunStarted));
  const pid_t pid = running.read<wire::RunStarted>(DaemonFrame::RunStarted).pid;
  RawClient& waits = stage.client();
  waits.submit("exit 0", place);
  REQUIRE(stage.gets(waits, DaemonFrame::RunAccepted));
  RawClient& last = stage.client();
  last.submit("exit 9", place);
  REQUIRE(stage.gets(last, DaemonFrame::RunAccepted));
  waits.hang_up();
  running.hang_up();
  REQUIRE(stage.gets(last, DaemonFrame::RunEnded));
  CHECK(last.read<wire::RunEnded>(DaemonFrame::RunEnded).exit_code == 9);
  CHECK(::kill(pid, 0) != 0);
}

TEST_CASE("a client that reads nothing delays no other client") {
  Serving stage;
  Place place;
  RawClient& deaf = stage.client();
  deaf.hello();
  for (int i = 0; i < 16; ++i) deaf.ask();
  RawClient& client = stage.client();
  client.submit("exit 4", place);
  CHECK(stage.gets(client, DaemonFrame::RunEnded));
}

TEST_CASE("a client that asks without end loses its connection") {
  Serving stage;
  RawClient& client = stage.client();
  client.hello();
  for (int i = 0; i < 17; ++i) client.ask();
  REQUIRE(stage.is_closed(client));
  CHECK_THAT(client.refusal(), Catch::Contains("more than 16 requests"));
}

TEST_CASE("clients that say nothing, or half of something, are dropped after five seconds") {
  Serving stage;
  RawClient& silent = stage.client();
  RawClient& greets = stage.client();
  greets.hello();
  RawClient& half = stage.client();
  half.hello();
  const wire::Bytes whole = wire::pack(DaemonFrame::SubmitRun, 0, order("exit 0"));
  half.send({whole.begin(), whole.end() - 1});
  CHECK(stage.answers());
  const auto begin = std::chrono::steady_clock::now();
  for (RawClient* client : {&silent, &greets, &half}) {
    REQUIRE(stage.is_closed(*client));
    CHECK_THAT(client->refusal(), Catch::Contains("no request arrived"));
  }
  CHECK(std::chrono::steady_clock::now() - begin > std::chrono::seconds(4));
}

TEST_CASE("a daemon that is stopped notifies the clients that wait, and ends the runs") {
  Serving stage;
  Place place;
  RawClient& running = stage.client();
  running.submit("trap 'kill $!; exit 130' TERM; sleep 100 & echo x; wait", place);
  REQUIRE(stage.gets(running, DaemonFrame::RunStarted));
  char byte = 0;
  REQUIRE(::read(place.output.first.get(), &byte, 1) == 1);
  RawClient& waits = stage.client();
  waits.submit("exit 0", place);
  REQUIRE(stage.gets(waits, DaemonFrame::RunAccepted));
  stage.server.stop();
  REQUIRE(run_until(stage.loop, [&] { return stage.over; }));
  for (RawClient* client : {&running, &waits}) {
    REQUIRE(stage.gets(*client, DaemonFrame::RunEnded));
    const auto ended = client->read<wire::RunEnded>(DaemonFrame::RunEnded);
    CHECK(ended.exit_code == 130);
    CHECK(ended.why == "the daemon was stopped");
  }
  CHECK_FALSE(stage.client().connected());
}

TEST_CASE("a daemon with an idle limit exits after it has been idle for that long") {
  daemon::ServerOptions with = options();
  with.idle_exit = std::chrono::milliseconds(50);
  Serving stage(std::move(with));
  Place place;
  RawClient& client = stage.client();
  client.submit("exec sleep 0.3", place);
  REQUIRE(stage.gets(client, DaemonFrame::RunEnded));
  CHECK_FALSE(stage.over);
  CHECK(run_until(stage.loop, [&] { return stage.over; }));
}

TEST_CASE("another user's connection is closed unread") {
  testing::skip_case_if(::getuid() != 0, "only root can become another user");
  Serving stage;
  ::chmod(stage.scratch.path().c_str(), 0755);
  ::chmod((stage.scratch.path() + "/d.sock").c_str(), 0777);
  const pid_t child = fork_child([&] {
    constexpr uid_t kNobody = 65534;
    if (::setresuid(kNobody, kNobody, kNobody) != 0) return 1;
    RawClient stranger(stage.scratch.path() + "/d.sock");
    if (!stranger.connected()) return 2;
    stranger.hello();
    stranger.ask();
    while (!stranger.listen()) ::sched_yield();
    return stranger.frames.empty() ? 0 : 3;
  });
  int status = -1;
  REQUIRE(run_until(stage.loop, [&] { return ::waitpid(child, &status, WNOHANG) == child; }));
  CHECK(status == 0);
  CHECK(stage.answers());
}

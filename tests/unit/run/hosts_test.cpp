// Suites with hosts: when a host is set up and torn down, and the tests' results if it goes wrong.
#include <catch2/catch.hpp>

#include <csignal>

#include "run_stage.hpp"

using namespace distrun;
using namespace distrun::runner;
using proc::ExitStatus;

namespace {

using Act = std::function<void(fake::World&, int rank)>;

// A run of tests with two ranks each, in suites with hosts. Hosts and ranks follow their orders.
struct HostsShow : RunStage {
  explicit HostsShow(const Names& tests) {
    for (const std::string& id : tests) {
      wire::TestInfo& info = add(id.substr(0, id.find('.')), id.substr(id.find('.') + 1));
      info.has_host = info.has_suite_code = info.has_fixture = true;
    }
    node.script = [this](fake::World& world) {
      world.answer = [this](fake::World& from, int rank, const wire::Frame& frame) { answer(from, rank, frame); };
      world.start_and_greet_all();
    };
  }
  void answer(fake::World& world, int rank, const wire::Frame& frame) {
    if (!frame.is(wire::ControlFrame::Run)) return;
    orders.push_back(wire::decode<wire::RunOrder>(wire::view_of(frame.payload)));
    const wire::RunOrder& order = orders.back();
    if (order.host != wire::HostWork::None) host = node.world;
    if (order.rank == 0) happened.push_back(order.test_id);
    if (acts.contains(order.test_id)) return acts.at(order.test_id)(world, rank);
    if (order.host == wire::HostWork::SetUp) {
      world.say(rank, wire::ControlFrame::Done, wire::Done{true, 1, {{"port", "4711"}}});
    } else {
      world.pass(rank);
    }
  }
  const TestRecord& test(std::size_t index) const { return run->record().tests.at(index); }

  std::map<std::string, Act> acts;  // instead of passing
  std::vector<wire::RunOrder> orders;
  Names happened;  // work of hosts, and tests
  std::shared_ptr<fake::World> host;
};

void fail(fake::World& world, int rank) {
  world.error(rank, "no server");
  world.done(rank, false);
  world.end(rank, ExitStatus::of_code(10));
}

void segfault(fake::World& world, int rank) { world.die(rank, SIGSEGV); }

void skip(fake::World& world, int rank) {
  world.say(rank, wire::ControlFrame::Skip, wire::SkipReport{86, "no dataset"});
  world.done(rank, false);
  world.end(rank, ExitStatus::of_code(86));
}

}  // namespace

TEST_CASE("a suite is set up before its first test and torn down after its last") {
  HostsShow show({"Ring.a", "Ring.b"});
  CHECK(exit_code_of(show.play()) == 0);
  CHECK(show.verdicts() == Names{"pass", "pass"});
  CHECK(show.happened == Names{"Ring (set-up)", "Ring.a", "Ring.b", "Ring (tear-down)"});
  CHECK(show.node.spawned == 3);  // the host is one process
  REQUIRE(show.run->record().hosts.size() == 1);
  const HostRecord& host = show.run->record().hosts[0];
  CHECK(host.suite == "Ring");
  CHECK(host.plugin == "ring.so");
  CHECK(host.verdict == Verdict::Pass);
  CHECK(host.rank.rank == -1);
  CHECK(host.rank.outcome.kind == OutcomeKind::Passed);
}

TEST_CASE("only the ranks of a suite get its directory and the settings of its host") {
  HostsShow show({"Ring.a"});
  wire::TestInfo plain;
  plain.suite = "Plain";
  plain.name = "a";
  plain.world_size = 1;
  show.node.tables["ring.so"].tests.push_back(plain);
  std::string directory;
  bool was_there = false;
  show.acts["Ring.a"] = [&](fake::World& world, int rank) {
    directory = show.orders.back().suite_dir;
    was_there = testing::exists(directory);
    world.pass(rank);
  };
  show.play();
  REQUIRE(show.orders.size() == 5);
  const wire::RunOrder& set_up = show.orders[0];
  CHECK(set_up.host == wire::HostWork::SetUp);
  CHECK(set_up.stay);
  CHECK_FALSE(set_up.leaks_strict);
  CHECK(set_up.run_world_size == 4);
  CHECK(set_up.suite == "Ring");
  CHECK(set_up.suite_dir == directory);
  const wire::RunOrder& ranks = show.orders[1];
  CHECK(ranks.host == wire::HostWork::None);
  CHECK(ranks.suite_code);
  CHECK(ranks.suite_settings == std::vector<wire::KeyValue>{{"port", "4711"}});
  CHECK_FALSE(directory.empty());
  CHECK(was_there);
  CHECK_FALSE(testing::exists(directory + "/shard"));
  const wire::RunOrder& other = show.orders[4];
  CHECK(other.suite_dir.empty());
  CHECK(other.suite_settings.empty());
  CHECK_FALSE(other.suite_code);
}

TEST_CASE("suites that alternate have a host each") {
  HostsShow show({"Ring.a", "Star.a", "Ring.b", "Star.b"});
  show.play();
  CHECK(show.verdicts() == Names{"pass", "pass", "pass", "pass"});
  CHECK(show.happened == Names{"Ring (set-up)", "Ring.a", "Star (set-up)", "Star.a", "Ring.b", "Ring (tear-down)",
                               "Star.b", "Star (tear-down)"});
}

TEST_CASE("only tests that are to run need a host, and it ends with the last of them") {
  HostsShow show({"Ring.a", "Ring.b", "Star.a"});
  for (const std::size_t i : {1U, 2U}) show.node.tables["ring.so"].tests[i].skip = {{86, "not today"}};
  show.play();
  CHECK(show.verdicts() == Names{"pass", "skip", "skip"});
  CHECK(show.happened == Names{"Ring (set-up)", "Ring.a", "Ring (tear-down)"});
}

TEST_CASE("if the set-up fails, every test of the suite fails, without a rank") {
  HostsShow show({"Ring.a", "Ring.b"});
  show.acts["Ring (set-up)"] = [&](fake::World& world, int rank) {
    world.output[0] = "starting\n";
    fail(world, rank);
  };
  CHECK(exit_code_of(show.play()) == 1);
  CHECK(show.verdicts() == Names{"fail", "fail"});
  CHECK(show.happened == Names{"Ring (set-up)"});
  for (const std::size_t i : {0U, 1U}) {
    CHECK(show.test(i).message == "the suite's set-up failed: no server (ring.cpp:41)");
    REQUIRE(show.test(i).attempts.size() == 1);
    const AttemptRecord& attempt = show.test(i).attempts[0];
    CHECK(attempt.culprits == std::vector{-1});
    REQUIRE(attempt.ranks.size() == 1);
    CHECK(attempt.ranks[0].rank == -1);
    CHECK(attempt.ranks[0].errors.size() == 1);
    CHECK(attempt.ranks[0].out.text == (i == 0 ? "starting\n" : ""));  // reported once
  }
  CHECK(show.told.count("rank error -1 no server") == 1);
  CHECK(show.told.count("rank error 0") == 0);
  CHECK(show.told.count("attempt end fail") == 2);
}

TEST_CASE("a host that crashes while it sets up is a crash, with its signal") {
  HostsShow show({"Ring.a"});
  show.acts["Ring (set-up)"] = segfault;
  show.play();
  CHECK(show.verdicts() == Names{"crash"});
  CHECK(show.test(0).message == "the suite's set-up failed: the host was killed by signal 11 (SIGSEGV) in set-up");
}

TEST_CASE("the stacks of a host that hangs are taken, and it is ended when its phase times out") {
  HostsShow show({"Ring.a"});
  show.settings.timeout_scale = 0.005;  // 300 ms
  show.acts["Ring (set-up)"] = [](fake::World& world, int) { world.mortal = true; };
  show.play();
  CHECK(show.verdicts() == Names{"timeout"});
  CHECK_THAT(show.test(0).message, Catch::StartsWith("the suite's set-up failed: the host timed out after 300"));
  REQUIRE(show.test(0).attempts.at(0).snapshots.size() == 1);
  CHECK(show.told.count("look timeout") == 1);
}

TEST_CASE("a host that skips skips its suite's tests, before any rank") {
  HostsShow show({"Ring.a", "Ring.b"});
  show.acts["Ring (set-up)"] = skip;
  CHECK(exit_code_of(show.play()) == 4);
  CHECK(show.verdicts() == Names{"skip", "skip"});
  for (const std::size_t i : {0U, 1U}) {
    CHECK(show.test(i).message == "no dataset");
    CHECK(show.test(i).info.skip.at(0).code == 86);
    CHECK(show.test(i).attempts.empty());
  }
  CHECK(show.happened == Names{"Ring (set-up)"});
}

TEST_CASE("a failed tear-down is the failure of the suite's last test") {
  HostsShow show({"Ring.a", "Ring.b"});
  show.acts["Ring (tear-down)"] = fail;
  CHECK(exit_code_of(show.play()) == 1);
  CHECK(show.verdicts() == Names{"pass", "fail"});
  CHECK(show.test(1).message == "the suite's tear-down failed: no server (ring.cpp:41)");
  REQUIRE(show.test(1).attempts.size() == 2);
  CHECK(show.test(1).attempts[0].verdict == Verdict::Pass);
  CHECK(show.test(1).attempts[1].ranks.at(0).rank == -1);
}

TEST_CASE("a failed tear-down after a run that ended early is a problem, as its tests have been reported") {
  HostsShow show({"Ring.a", "Ring.b"});
  show.settings.fail_fast = true;
  show.acts["Ring.a"] = fail;
  show.acts["Ring (tear-down)"] = fail;
  CHECK(exit_code_of(show.play()) == 3);
  CHECK(show.verdicts() == Names{"fail"});
  REQUIRE(show.run->record().problems.size() == 1);
  const Problem& problem = show.run->record().problems[0];
  CHECK(problem.phase == "suite tear-down");
  CHECK(problem.plugin == "ring.so");
  CHECK(problem.text == "Ring: the suite's tear-down failed: no server (ring.cpp:41)");
}

TEST_CASE("files left in a host's TMPDIR are a leak of the host at the end, and of no test") {
  HostsShow show({"Ring.a"});
  std::string path;
  show.acts["Ring (set-up)"] = [&](fake::World& world, int rank) {
    path = world.messages<wire::RunOrder>(rank, wire::ControlFrame::Run).at(0).tmp_dir + "/of-the-host";
    testing::write_file(path, "x");
    world.done(rank);
  };
  show.play();
  CHECK(show.verdicts() == Names{"leak"});
  CHECK(show.test(0).attempts.at(0).verdict == Verdict::Pass);
  CHECK(show.test(0).message == "the suite's tear-down failed: the host has left behind: file " + path);
  CHECK_FALSE(testing::exists(path));
}

TEST_CASE("files created by a set-up are no leak of a test, and a leak of the host if they are left at the end") {
  const bool removed = GENERATE(true, false);
  HostsShow show({"Ring.a"});
  const std::string path = show.places.temp_dir + "/of-the-host";
  show.acts["Ring (set-up)"] = [&](fake::World& world, int rank) {
    testing::write_file(path, "x");
    world.hold(path);
    world.offspring = true;  // for example a server
    world.done(rank);
  };
  show.acts["Ring (tear-down)"] = [&](fake::World& world, int rank) {
    if (removed) ::unlink(path.c_str());
    world.pass(rank);
  };
  show.play();
  CHECK(show.verdicts() == Names{removed ? "pass" : "leak"});
  CHECK(show.test(0).attempts.at(0).verdict == Verdict::Pass);
  if (!removed) {
    CHECK(show.test(0).message == "the suite's tear-down failed: the host has left behind: file " + path);
  }
}

TEST_CASE("the death of a host between two tests crashes the next ones") {
  HostsShow show({"Ring.a", "Ring.b", "Ring.c"});
  show.acts["Ring.b"] = [&](fake::World& world, int rank) {
    if (rank == 0) show.host->die(0, SIGKILL);
    if (rank == 0) return;
    world.pass(0);
    world.pass(1);
  };
  show.settings.retries = 2;
  show.play();
  CHECK(show.verdicts() == Names{"pass", "crash", "crash"});
  for (const std::size_t i : {1U, 2U}) {
    CHECK(show.test(i).message == "the suite's host was killed by signal 9 (SIGKILL)");
    CHECK(show.test(i).attempts.size() == 1);
  }
  CHECK(show.happened == Names{"Ring (set-up)", "Ring.a", "Ring.b"});
}

TEST_CASE("running ranks are notified when their suite's host dies, and ended after their grace") {
  HostsShow show({"Ring.a"});
  show.acts["Ring.a"] = [&](fake::World& world, int rank) {
    world.mortal = true;
    if (rank == 1) show.host->die(0, SIGABRT);
  };
  show.play();
  CHECK(show.verdicts() == Names{"crash"});
  CHECK(show.test(0).message == "the suite's host was killed by signal 6 (SIGABRT)");
  const auto told = show.node.world->messages<wire::PeerFailed>(1, wire::ControlFrame::PeerFailed);
  REQUIRE(told.size() == 1);
  CHECK(told[0].rank == -1);
  CHECK(told[0].text == "was killed by signal 6 (SIGABRT)");
  CHECK(show.node.world->was_sent(1, SIGTERM));
}

TEST_CASE("a cancelled run kills its hosts without a tear-down") {
  HostsShow show({"Ring.a", "Ring.b"});
  show.acts["Ring.a"] = [&](fake::World& world, int rank) {
    if (rank == 1) return;
    show.run->cancel(Urgency::Polite);
    world.die(0, SIGTERM);
    world.die(1, SIGTERM);
  };
  CHECK(exit_code_of(show.play()) == 130);
  CHECK(show.verdicts() == Names{"cancelled"});
  CHECK(show.host->was_sent(0, SIGKILL));
  CHECK(show.happened == Names{"Ring (set-up)", "Ring.a"});
}

TEST_CASE("a pause stops a host that waits, and it continues with the ranks") {
  HostsShow show({"Ring.a"});
  show.acts["Ring.a"] = [&](fake::World& world, int rank) {
    if (rank == 1) return;
    CHECK(show.host->signals.empty());
    show.run->pause();
    show.run->pause();  // another Ctrl-Z changes nothing
    CHECK(show.host->signals_of(0) == std::vector<int>{SIGSTOP});
    CHECK(world.signals_of(1) == std::vector<int>{SIGSTOP});
    show.run->resume();
    CHECK(show.host->signals_of(0) == std::vector<int>{SIGSTOP, SIGCONT});
    CHECK(world.signals_of(1) == std::vector<int>{SIGSTOP, SIGCONT});
    world.pass(0);
    world.pass(1);
  };
  show.play();
  CHECK(show.verdicts() == Names{"pass"});
  CHECK(show.happened == Names{"Ring (set-up)", "Ring.a", "Ring (tear-down)"});
}

TEST_CASE("a host that is stopped is continued for the tear-down of its suite") {
  HostsShow show({"Ring.a"});
  std::shared_ptr<fake::World> host;
  show.acts["Ring.a"] = [&](fake::World& world, int rank) {
    if (rank == 1) return;
    host = show.host;
    show.run->pause();  // and the ranks end meanwhile
    world.pass(0);
    world.pass(1);
  };
  show.play();
  CHECK(show.verdicts() == Names{"pass"});
  CHECK(host->signals_of(0) == std::vector<int>{SIGSTOP, SIGCONT});
}

TEST_CASE("a host that sets too many settings is lost") {
  HostsShow show({"Ring.a"});
  show.acts["Ring (set-up)"] = [](fake::World& world, int rank) {
    world.mortal = true;
    wire::Done done{true, 1, {}};
    done.suite_settings.resize(wire::kSuiteSettingsMax + 1);
    world.say(rank, wire::ControlFrame::Done, done);
  };
  show.play();
  CHECK(show.verdicts() == Names{"crash"});
  CHECK_THAT(show.test(0).message, Catch::Contains("more settings than a host may set"));
}

TEST_CASE("the status of a run has the host while it works") {
  HostsShow show({"Ring.a"});
  wire::RunStatus status;
  show.acts["Ring (set-up)"] = [&](fake::World& world, int rank) {
    status = show.run->status();
    world.done(rank);
  };
  show.play();
  REQUIRE(status.tests.size() == 1);
  CHECK(status.tests[0].test == "Ring (set-up)");
  REQUIRE(status.tests[0].ranks.size() == 1);
  CHECK(status.tests[0].ranks[0].rank == -1);
  CHECK(status.tests[0].ranks[0].doing == "set-up");
}

TEST_CASE("a host is one process, forked or not like the ranks") {
  const Isolation isolation = GENERATE(from_range(base::kIsolations.begin(), base::kIsolations.end()));
  HostsShow show({"Ring.a"});
  show.settings.isolation = isolation;
  show.node.tables["ring.so"].reuse = wire::Reuse::Together;
  show.acts["Ring (set-up)"] = [&](fake::World& world, int rank) {
    CHECK(world.spec().world_size == 1);
    CHECK(world.spec().isolation == (isolation == Isolation::Threads ? Isolation::Pool : isolation));
    CHECK_FALSE(show.orders.back().threads);
    world.done(rank);
  };
  show.acts["Ring.a"] = [&](fake::World& world, int rank) {
    world.done(rank);
    if (isolation != Isolation::Threads) return world.end(rank);
    if (rank == 0) return;
    world.end(0);
    world.end(1);
  };
  show.play();
  CHECK(show.verdicts() == Names{"pass"});
}

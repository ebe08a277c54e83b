// Persistent ranks.
#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <fstream>

#include "stay_show.hpp"

using namespace distrun;
using namespace distrun::runner;
using proc::ExitStatus;

namespace {

void fail_rank_0(fake::World& world, int rank) {
  if (rank == 0) world.error(0, "token is lost");
  world.done(rank, rank != 0);
}

}  // namespace

TEST_CASE("one set of ranks runs all tests of a suite, and exits after the last one") {
  const Isolation isolation = GENERATE(Isolation::Pool, Isolation::Threads);
  StayShow show({"a", "b", "c"}, isolation);
  CHECK(exit_code_of(show.play()) == 0);
  CHECK(show.verdicts() == Names{"pass", "pass", "pass"});
  CHECK(show.node.spawned == 1);
  REQUIRE(show.orders.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(show.orders[i].stay == (i < 4));
    CHECK(show.orders[i].threads == (isolation == Isolation::Threads));
    CHECK(show.orders[i].leaks_strict);
  }
  CHECK(show.told.count("rank start 1") == 3);
  CHECK(show.told.count("rank end 1 passed") == 3);
  for (const TestRecord& test : show.run->record().tests) CHECK(test.attempts.at(0).ranks.at(1).pid == 1001);
}

TEST_CASE("another suite, and another world size, get separate ranks") {
  StayShow show({"a", "b"});
  show.add("Other", "a");
  show.add("Other", "b").world_size = 1;
  show.play();
  CHECK(show.verdicts() == Names{"pass", "pass", "pass", "pass"});
  CHECK(show.node.spawned == 3);
}

TEST_CASE("after a failure a fresh set of ranks continues") {
  StayShow show({"a", "b", "c"});
  show.acts["Ring.b"] = fail_rank_0;
  CHECK(exit_code_of(show.play()) == 1);
  CHECK(show.verdicts() == Names{"pass", "fail", "pass"});
  CHECK(show.node.spawned == 2);
  CHECK(show.dismissed == std::vector<int>{0, 1});
}

TEST_CASE("after a crash a fresh set of ranks continues") {
  StayShow show({"a", "b"});
  show.acts["Ring.a"] = [](fake::World& world, int rank) {
    if (rank == 0) world.die(0, SIGSEGV);
    if (rank == 1) world.done(1);
  };
  show.play();
  CHECK(show.verdicts() == Names{"crash", "pass"});
  CHECK(show.node.spawned == 2);
}

TEST_CASE("ranks that have left a process behind do not stay") {
  StayShow show({"a", "b"});
  show.acts["Ring.a"] = [](fake::World& world, int rank) {
    world.offspring = true;
    world.done(rank);
  };
  show.play();
  CHECK(show.verdicts() == Names{"pass", "pass"});  // it ended with the ranks: no leak
  CHECK(show.node.spawned == 2);
  CHECK(show.dismissed.size() == 2);
}

TEST_CASE("a new file that no rank uses belongs to no test, and the ranks stay") {
  StayShow show({"a", "b"});
  show.acts["Ring.a"] = [&show](fake::World& world, int rank) {
    if (rank == 0) std::ofstream(show.places.temp_dir + "/left") << "here";
    world.done(rank);
  };
  show.play();
  CHECK(show.verdicts() == Names{"pass", "pass"});
  CHECK(show.node.spawned == 1);
  const std::vector<std::string>& appeared = show.run->record().appeared;
  CHECK(std::count(appeared.begin(), appeared.end(), show.places.temp_dir + "/left") == 1);
}

TEST_CASE("a file that a test leaves is reported with that test, and its ranks do not stay") {
  StayShow show({"a", "b"});
  show.acts["Ring.a"] = [&show](fake::World& world, int rank) {
    if (rank == 0) {
      std::ofstream(show.places.temp_dir + "/left") << "here";
      world.hold(show.places.temp_dir + "/left");
    }
    world.done(rank);
  };
  show.play();
  CHECK(show.verdicts() == Names{"leak", "pass"});
  CHECK(show.node.spawned == 2);
}

TEST_CASE("a leak that a rank itself finds is reported, and its ranks do not stay") {
  StayShow show({"a", "b"});
  show.acts["Ring.a"] = [](fake::World& world, int rank) {
    if (rank == 1) world.say(1, wire::ControlFrame::Leak, wire::LeakReport{false, "5 (/dev/zero)"});
    world.done(rank);
  };
  show.play();
  CHECK(show.verdicts() == Names{"leak", "pass"});
  CHECK(show.node.spawned == 2);
}

TEST_CASE("a rank that hangs after its dismissal times out in exit") {
  StayShow show({"a", "b"});
  show.settings.timeout_scale = 0.01;  // 5 s are 50 ms
  show.acts["Ring.a"] = [&show](fake::World& world, int rank) {
    world.offspring = world.mortal = show.stuck = true;
    world.done(rank);
  };
  show.acts["Ring.b"] = [&show](fake::World& world, int rank) {
    show.stuck = false;
    world.pass(rank);
  };
  show.play();
  CHECK(show.verdicts() == Names{"timeout", "pass"});
  CHECK(show.run->record().tests[0].attempts[0].phase == wire::Phase::Exit);
}

TEST_CASE("a rank that dies while it waits for its next test is a problem of the run, and a fresh set continues") {
  StayShow show({"a", "b"});
  show.acts["Ring.a"] = [&show](fake::World& world, int rank) {
    world.done(rank);
    if (rank == 1) show.node.on_prepare = [&world] { world.die(0, SIGSEGV); };
  };
  const RunRecord& record = show.play();
  CHECK(show.verdicts() == Names{"pass", "pass"});
  CHECK(show.node.spawned == 2);
  REQUIRE(record.problems.size() == 1);
  CHECK(record.problems[0].phase == "between tests");
  CHECK_THAT(record.problems[0].text, Catch::Contains("rank 0 was killed by signal 11 (SIGSEGV)"));
  CHECK(exit_code_of(record) == 3);
}

TEST_CASE("repeats are run by the same ranks, and so is the test after a retry") {
  StayShow show({"a"});
  show.settings.repeat = 5;
  show.play();
  CHECK(show.node.spawned == 1);
  CHECK(show.run->record().tests[0].attempts.size() == 5);
  CHECK_FALSE(show.orders.back().stay);
}

// It was unknown that no other test would follow.
TEST_CASE("ranks that wait for a test that does not come are dismissed, and their errors are reported") {
  StayShow show({"a"});
  show.settings.until_fail = 5;
  show.dies_of = GENERATE(0, SIGSEGV);
  show.acts["Ring.a"] = [](fake::World& world, int rank) {
    world.say(rank, wire::ControlFrame::Skip, wire::SkipReport{86, "not today"});
    world.done(rank, false);
  };
  const RunRecord& record = show.play();
  CHECK(show.verdicts() == Names{"skip"});
  CHECK(show.dismissed == std::vector<int>{0, 1});
  REQUIRE(record.problems.size() == (show.dies_of == 0 ? 0U : 1U));
  for (const Problem& problem : record.problems) {
    CHECK_THAT(problem.text, Catch::Contains("were dismissed, rank 0 was killed by signal 11 (SIGSEGV)"));
  }
}

TEST_CASE("the end of ranks that have run several tests is a problem of the run, and of no test") {
  StayShow show({"a", "b"});
  show.settings.timeout_scale = 0.01;  // 5 s are 50 ms
  std::string how = "rank 1 was killed by signal 11 (SIGSEGV) in exit, after its body had passed";
  SECTION("a crash") {
    show.acts["Ring.b"] = [](fake::World& world, int rank) {
      world.done(rank);
      rank == 1 ? world.die(1, SIGSEGV) : world.end(0);
    };
  }
  SECTION("of all ranks") {
    how = "rank 0 exited with code 7 in exit, after its body had passed, and 1 more rank ended badly";
    show.acts["Ring.b"] = [](fake::World& world, int rank) {
      world.done(rank);
      world.end(rank, ExitStatus::of_code(7));
    };
  }
  SECTION("a hang") {
    how = "rank 1 timed out after 50.0 ms in exit, after its body had passed";
    show.acts["Ring.b"] = [](fake::World& world, int rank) {
      world.mortal = true;
      world.done(rank);
      if (rank == 0) world.end(0);
    };
  }
  SECTION("also after a test after which they cannot be reused") {
    show.add("Ring", "c");
    show.acts["Ring.b"] = [&show](fake::World& world, int rank) {
      show.dies_of = rank == 1 ? SIGSEGV : 0;
      wire::Done done{true, 7, {}};
      done.used_up = true;
      world.say(rank, wire::ControlFrame::Done, done);
    };
    how = "rank 0 was killed by signal 11 (SIGSEGV) in exit, after its body had passed, and 1 more rank ended badly";
  }
  const RunRecord& record = show.play();
  for (const std::string& verdict : show.verdicts()) CHECK(verdict == "pass");
  REQUIRE(record.problems.size() == 1);
  CHECK(record.problems[0].phase == "between tests");
  CHECK(record.problems[0].text ==
        "among the ranks that had run Ring.a, Ring.b, " + how +
            "; to reproduce it, run these tests together: --isolation pool --filter 'Ring.*'");
  CHECK(exit_code_of(record) == 3);
}

TEST_CASE("the end of ranks that have run one test, any number of times, belongs to that test") {
  StayShow show({"a"});
  show.settings.repeat = GENERATE(1, 3);
  show.acts["Ring.a"] = [&show](fake::World& world, int rank) {
    world.done(rank);
    if (show.orders.back().stay) return;
    rank == 1 ? world.die(1, SIGSEGV) : world.end(0);
  };
  CHECK(show.play().problems.empty());
  CHECK(show.verdicts() == Names{"crash"});
}

TEST_CASE("a test that fails as the last of its ranks keeps its failure, however the ranks end") {
  StayShow show({"a", "b"});
  show.acts["Ring.b"] = [](fake::World& world, int rank) {
    fail_rank_0(world, rank);
    rank == 0 ? world.die(0, SIGSEGV) : world.end(1);
  };
  CHECK(show.play().problems.empty());
  CHECK(show.verdicts() == Names{"pass", "fail"});
}

TEST_CASE("a process that ranks start as they are dismissed is reported, unless it exits") {
  StayShow show({"a"});
  show.settings.until_fail = 5;
  const bool ends = GENERATE(false, true);
  show.leftover = {"4711 (sleep 100)", ends, 4711};
  show.acts["Ring.a"] = [](fake::World& world, int rank) {
    world.say(rank, wire::ControlFrame::Skip, wire::SkipReport{86, "not today"});
    world.done(rank, false);
  };
  const RunRecord& record = show.play();
  CHECK(show.verdicts() == Names{"skip"});
  REQUIRE(record.problems.size() == (ends ? 0U : 1U));
  for (const Problem& problem : record.problems) {
    CHECK_THAT(problem.text, Catch::Contains("were dismissed, they left the process 4711 (sleep 100) behind"));
  }
}

TEST_CASE("ranks that cannot be reused after a test do not run another, and the test passes") {
  StayShow show({"a", "b"});
  show.acts["Ring.a"] = [](fake::World& world, int rank) {
    wire::Done done{true, 7, {}};
    done.used_up = rank == 1;
    world.say(rank, wire::ControlFrame::Done, done);
  };
  CHECK(exit_code_of(show.play()) == 0);
  CHECK(show.verdicts() == Names{"pass", "pass"});
  CHECK(show.node.spawned == 2);
  CHECK(show.dismissed == std::vector<int>{0, 1});
}

TEST_CASE("changes that a test leaves are a note, and a leak in a strict run") {
  const bool strict = GENERATE(false, true);
  StayShow show({"a"});
  show.settings.leaks_strict = strict;
  show.acts["Ring.a"] = [](fake::World& world, int rank) {
    if (rank == 1) world.say(rank, wire::ControlFrame::Leak, wire::LeakReport{false, "the umask", true});
    world.pass(rank);
  };
  show.play();
  CHECK(show.verdicts() == Names{strict ? "leak" : "pass"});
  const AttemptRecord& attempt = show.run->record().tests[0].attempts[0];
  CHECK(attempt.leaks.size() == (strict ? 1U : 0U));
  CHECK(attempt.ranks[1].notes.size() == (strict ? 0U : 1U));
}

TEST_CASE("tests that cannot run with persistent ranks are skipped with the reason") {
  StayShow show({}, Isolation::Threads);
  show.add("Ring", "wants_variables").env_rendezvous = true;
  show.add("Ring", "loses_a_rank").may_die.push_back({1, wire::DeathKind::Any, 0});
  show.add("Ring", "asks_for_exec").isolation = "exec";
  show.play();
  CHECK(show.verdicts() == Names{"skip", "skip", "pass"});
  CHECK(show.run->record().tests[2].variant.isolation == Isolation::Exec);
  CHECK_THAT(show.run->record().tests[1].message, Catch::Contains("ranks that are threads die together"));
}

TEST_CASE("a plugin that serves one test per process is skipped with persistent ranks") {
  StayShow show({"a"}, GENERATE(Isolation::Pool, Isolation::Threads));
  show.node.tables["ring.so"].reuse = wire::Reuse::Once;
  show.play();
  CHECK(show.verdicts() == Names{"skip"});
  CHECK(show.node.spawned == 0);
}

TEST_CASE("a plugin that runs tests one after the other has persistent ranks, but no threads") {
  const Isolation isolation = GENERATE(Isolation::Pool, Isolation::Threads);
  StayShow show({"a"}, isolation);
  show.node.tables["ring.so"].reuse = wire::Reuse::Again;
  show.play();
  CHECK(show.verdicts() == Names{isolation == Isolation::Pool ? "pass" : "skip"});
}

TEST_CASE("ranks that died with their process follow from the rank that ended it") {
  StayShow show({"a"}, Isolation::Threads);
  show.acts["Ring.a"] = [](fake::World& world, int rank) {
    if (rank == 0) return;
    world.events().on_rank_ended(1, ExitStatus::of_signal(SIGSEGV), -1);
    world.events().on_rank_ended(0, ExitStatus::of_signal(SIGSEGV), 1);
  };
  show.play();
  const AttemptRecord& attempt = show.run->record().tests.at(0).attempts.at(0);
  CHECK(attempt.verdict == Verdict::Crash);
  CHECK(attempt.culprits == std::vector<int>{1});
  CHECK(attempt.ranks[0].because_of == 1);
  CHECK(attempt.ranks[0].signal == 0);
}

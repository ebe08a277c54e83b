#include <catch2/catch.hpp>

#include <signal.h>

#include <set>

#include "launched.hpp"
#include "support/skip.hpp"

using namespace distrun;
using namespace distrun::launch;

namespace {

pid_t only_child() {
  const std::vector<pid_t> children = proc::own_children();
  REQUIRE(children.size() == 1);
  return children.front();
}

void needs_zygotes() { testing::skip_case_if(!kForks, "no zygote forks under the thread sanitizer"); }

}  // namespace

TEST_CASE("ranks start, say hello, run, report and exit, in that order, in either isolation") {
  const Isolation isolation = GENERATE(kIsolation, Isolation::Exec);
  Machine machine;
  CHECK(machine.prepare(isolation).isolation == isolation);
  const auto ranks = machine.run("passes", 3, isolation);
  REQUIRE(ranks->story.size() == 3);
  for (const auto& [rank, story] : ranks->story) {
    INFO("rank " << rank << ": " << story);
    CHECK_THAT(story, Catch::StartsWith("started hello "));
    CHECK_THAT(story, Catch::EndsWith("done ended(0)"));
    CHECK(ranks->world->standard_output(rank).text == "rank " + std::to_string(rank) + " of 3\n");
    CHECK(ranks->world->standard_error(rank).text == "to stderr\n");
  }
  CHECK(ranks->spawn_failures.empty());
  CHECK(ranks->world->leftovers().empty());
}

TEST_CASE("ranks exit in the way that their test requests") {
  const Isolation isolation = GENERATE(kIsolation, Isolation::Exec);
  Machine machine;
  machine.prepare(isolation);
  CHECK(machine.run("exits", 1, isolation)->ends.at(0).code() == 3);
  CHECK(machine.run("dies", 1, isolation)->ends.at(0).signal() == SIGKILL);
}

TEST_CASE("a hundred ranks start from one zygote and exit") {
  Machine machine;
  machine.prepare();
  const auto ranks = machine.run("passes", 100);
  CHECK(ranks->spawn_failures.empty());
  CHECK(ranks->all("done ended(0)"));
  std::set<pid_t> pids;
  for (const auto& [rank, pid] : ranks->pids) pids.insert(pid);
  CHECK(pids.size() == 100);
}

TEST_CASE("one zygote serves many worlds, also concurrently") {
  needs_zygotes();
  Machine machine;
  machine.prepare();
  const pid_t zygote = only_child();
  for (int i = 0; i < 20; ++i) {
    machine.prepare();
    const auto ranks = machine.run("passes", 2);
    for (const auto& [rank, story] : ranks->story) CHECK_THAT(story, Catch::EndsWith("done ended(0)"));
    CHECK(ranks->story.size() == 2);
  }
  const auto first = machine.spawn("waits", 2);
  const auto second = machine.spawn("passes", 2);
  CHECK(machine.until([&] { return second->all_ended() && first->all("hello"); }));
  CHECK(first->ends.empty());
  CHECK(first->world->leftovers().empty());  // live ranks are not leftovers
  CHECK(second->world->leftovers().empty());
  CHECK(second->world->end_leftovers().left == 0);
  CHECK(first->ends.empty());
  CHECK(testing::is_alive(zygote));
}

TEST_CASE("a zygote that was killed between tests is replaced") {
  needs_zygotes();
  Machine machine;
  machine.prepare();
  const pid_t zygote = only_child();
  CHECK(machine.run("passes", 2)->all("done ended(0)"));
  ::kill(zygote, SIGKILL);
  SECTION("once its death is known") {
    CHECK(machine.until([&] { return proc::own_children().empty(); }));
    CHECK(machine.prepare().isolation == kIsolation);
    CHECK(only_child() != zygote);
    CHECK(machine.run("passes", 2)->all("done ended(0)"));
  }
  SECTION("or else its ranks are reported as failed, and the next ones start") {
    const auto ranks = machine.spawn("passes", 2);
    CHECK(machine.until([&] { return !ranks->spawn_failures.empty() || ranks->all_ended(); }));
    CHECK(machine.until([&] { return proc::own_children().empty(); }));
    machine.prepare();
    CHECK(machine.run("passes", 2)->all("done ended(0)"));
  }
}

TEST_CASE("a plugin that starts threads while it is loaded gets its ranks by exec, with the reason") {
  needs_zygotes();
  Machine machine;
  ::setenv("DISTRUN_UNIT_LAUNCH", "thread", 1);
  for (int i = 0; i < 2; ++i) {
    const Prepared prepared = machine.prepare();
    CHECK(prepared.isolation == Isolation::Exec);
    CHECK_THAT(prepared.reason, Catch::Contains("the plugin started 1 thread while loading"));
  }
  CHECK(machine.run("passes", 2, Isolation::Exec)->all("done ended(0)"));
}

TEST_CASE("a plugin that cannot be loaded is an error with its name and its last output") {
  needs_zygotes();
  Machine machine;
  SECTION("because it dies") {
    ::setenv("DISTRUN_UNIT_LAUNCH", "die", 1);
    const std::string text = error_of([&] { machine.prepare(); });
    CHECK_THAT(text, Catch::StartsWith(DISTRUN_UNIT_PLUGIN));
    CHECK_THAT(text, Catch::Contains("was killed by signal 9 (SIGKILL) while it was loaded"));
    CHECK_THAT(text, Catch::Contains("about to die"));
  }
  SECTION("because it hangs") {
    ::setenv("DISTRUN_UNIT_LAUNCH", "hang", 1);
    const std::string text = error_of([&] { machine.prepare(kIsolation, std::chrono::milliseconds(300)); });
    CHECK_THAT(text, Catch::StartsWith(DISTRUN_UNIT_PLUGIN));
    CHECK_THAT(text, Catch::Contains("did not finish loading within 300.0 ms"));
  }
  ::unsetenv("DISTRUN_UNIT_LAUNCH");
  CHECK(machine.prepare().isolation == kIsolation);  // it may be loadable again
}

TEST_CASE("a world that is destroyed ends its ranks") {
  const Isolation isolation = GENERATE(kIsolation, Isolation::Exec);
  Machine machine;
  machine.prepare(isolation);
  auto ranks = machine.spawn("ignores_term", 2, isolation);
  REQUIRE(machine.until([&] { return ranks->all("hello"); }));
  const std::map<int, pid_t> pids = ranks->pids;
  ranks->world.reset();
  for (const auto& [rank, pid] : pids) {
    const pid_t one = pid;
    CHECK(testing::eventually(testing::kLong, [&] { return !testing::is_alive(one) || proc::is_zombie(one); }));
  }
}

TEST_CASE("signals reach a rank, and SIGKILL ends one that ignores the others") {
  Machine machine;
  machine.prepare();
  const auto ranks = machine.spawn("ignores_term", 1);
  REQUIRE(machine.until([&] { return ranks->world->standard_output(0).text == "deaf\n"; }));
  ranks->world->signal(0, SIGTERM);
  ranks->world->signal(0, SIGSTOP);
  ranks->world->signal(0, SIGKILL);
  REQUIRE(machine.until([&] { return ranks->all_ended(); }));
  CHECK(ranks->ends.at(0).signal() == SIGKILL);
  ranks->world->signal(0, SIGKILL);  // without output
  ranks->world->send(0, wire::pack(wire::ControlFrame::PeerFailed, 0, wire::PeerFailed{}));
}

TEST_CASE("output over the cap keeps its beginning and its end") {
  Machine machine;
  machine.prepare();
  const auto ranks = machine.run("floods", 1);
  const proc::Captured out = ranks->world->standard_output(0);
  CHECK(out.bytes_total > 100'000);
  CHECK(out.text.size() < 4300);
  CHECK_THAT(out.text, Catch::StartsWith("line 0 of a flood"));
  CHECK_THAT(out.text, Catch::Contains("bytes left out here"));
  CHECK_THAT(out.text, Catch::EndsWith("line 4999 of a flood of output\n"));
}

TEST_CASE("a world's offspring has its tag, and its daemons are its leftovers") {
  needs_zygotes();
  Machine machine;
  machine.prepare();
  const pid_t zygote = only_child();
  const auto other = machine.spawn("waits", 1);
  REQUIRE(machine.until([&] { return other->all("hello"); }));
  const auto ranks = machine.run("leaves_a_daemon", 2);
  REQUIRE(machine.until([&] { return ranks->world->leftovers().size() == 2; }));
  std::set<std::uint64_t> tags;
  for (const pid_t pid : proc::own_children()) {
    if (pid != zygote && pid != other->pids.at(0)) tags.insert(proc::tag_of(pid));
  }
  CHECK(tags.size() == 1);
  CHECK_FALSE(tags.contains(proc::tag_of(other->pids.at(0))));
  CHECK_FALSE(tags.contains(proc::tag_of(zygote)));
  CHECK(other->world->leftovers().size() == 0);
  CHECK(testing::eventually(testing::kLong, [&] { return ranks->world->end_leftovers().left == 0; }));
  CHECK(ranks->world->leftovers().empty());
  CHECK(other->ends.empty());
}

TEST_CASE("leftovers of a finished world belong to no other world, and end with the node") {
  needs_zygotes();
  Machine machine;
  machine.prepare();
  {
    const auto ranks = machine.run("leaves_a_daemon", 1);
    REQUIRE(machine.until([&] { return ranks->world->leftovers().size() == 1; }));
  }
  const auto other = machine.spawn("waits", 1);
  REQUIRE(machine.until([&] { return other->all("hello"); }));
  CHECK(other->world->leftovers().empty());
  CHECK(proc::own_children().size() >= 3);  // the zygote, the waiting rank, and the daemon
  machine.node.close();
  CHECK(proc::own_children().empty());
}

TEST_CASE("a released plugin's zygote exits, and a closed node has no processes") {
  Machine machine;
  machine.prepare();
  machine.node.release(DISTRUN_UNIT_PLUGIN);
  CHECK(proc::own_children().empty());
  machine.prepare();
  const auto ranks = machine.spawn("ignores_term", 2);
  REQUIRE(machine.until([&] { return ranks->all("hello"); }));
  machine.node.close();
  CHECK(proc::own_children().empty());
  machine.node.close();
}

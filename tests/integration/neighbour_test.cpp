// Other programs of the same user are active on the machine: names that they create must not be attributed to a test.
#include <catch2/catch.hpp>

#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "programs.hpp"
#include "support/neighbour.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

Neighbour neighbour_of(const Sandbox& sandbox) {
  return Neighbour(DISTRUN_NEIGHBOUR, {sandbox.temp(), sandbox.start_directory()});
}

void remove_object(const std::string& what) {
  const std::size_t digit = what.find_first_of("0123456789");
  REQUIRE(digit != std::string::npos);
  const int id = std::atoi(what.c_str() + digit);
  CHECK((what.find("queue") != std::string::npos ? msgctl(id, IPC_RMID, nullptr) : semctl(id, 0, IPC_RMID)) == 0);
}

}  // namespace

TEST_CASE("tests pass beside a neighbour that constantly creates and removes names", "[neighbour]") {
  const std::string isolation = GENERATE("process", "exec", "pool", "threads");
  const std::string leaks = GENERATE("normal", "strict");
  const Sandbox sandbox(distrun_program());
  Neighbour neighbour = neighbour_of(sandbox);
  const Ended ended =
      sandbox.run({"run", "--output", sandbox.output(), "--isolation", isolation, "--leaks", leaks, "--repeat", "10",
                   "--filter", "Passes.trivial", "--filter", "Passes.barriers", plugin("passes")},
                  milliseconds(60'000));
  INFO(isolation << ": " << ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  for (const TestResult& test : sandbox.summary().tests) CHECK(test.verdict == "pass");
  CHECK(sandbox.summary().problems.empty());
  sandbox.sweep();
}

TEST_CASE("tests that run at the same time pass beside such a neighbour, too", "[neighbour]") {
  const Sandbox sandbox(distrun_program());
  Neighbour neighbour = neighbour_of(sandbox);
  const Ended ended = sandbox.run(
      {"run", "--output", sandbox.output(), "--jobs", "3", "--repeat", "5", "--filter", "Passes.*", plugin("passes")},
      milliseconds(60'000));
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(sandbox.summary().problems.empty());
  sandbox.sweep();
}

TEST_CASE("programs pass beside such a neighbour", "[neighbour][exec]") {
  const Sandbox sandbox(distrun_program());
  Neighbour neighbour = neighbour_of(sandbox);
  for (int i = 0; i < 5; ++i) {
    const Ended ended = sandbox.run({"exec", "--output", sandbox.output(), "-w", "2", "--", "sleep", "0.05"});
    INFO(ended.out << ended.err);
    CHECK(ended.exit_code == 0);
  }
  sandbox.sweep();
}

TEST_CASE("a leak is reported beside such a neighbour, and the neighbour's files are not", "[neighbour]") {
  const Sandbox sandbox(distrun_program());
  Neighbour neighbour = neighbour_of(sandbox);
  const Ended ended =
      sandbox.run({"run", "--output", sandbox.output(), "--filter", "Leaves.mapped_*", plugin("leaves")});
  const Summary summary = sandbox.summary();
  REQUIRE(summary.tests.size() == 2);
  for (const TestResult& test : summary.tests) {
    CHECK(test.verdict == "leak");
    REQUIRE(test.attempts.at(0).leaks.size() == 1);
    CHECK_THAT(test.attempts.at(0).leaks[0].what, Contains("fixture-untagged-"));
  }
  CHECK(ended.exit_code == 1);
  sandbox.sweep();
}

TEST_CASE("new names that stay are in the summary, and with -v in one note at the end", "[neighbour]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"run", "--color", "never", "--output", sandbox.output(), "--filter",
                                   "Leaves.file_in_start_directory", plugin("leaves")});
  const Summary summary = sandbox.summary();
  CHECK(ended.exit_code == 0);
  REQUIRE(summary.tests.size() == 1);
  CHECK(summary.tests[0].verdict == "pass");
  const std::string its = sandbox.start_directory() + "/fixture-";
  const auto is_its = [&](const std::string& name) { return name.starts_with(its); };
  CHECK(std::count_if(summary.appeared.begin(), summary.appeared.end(), is_its) == 1);
  CHECK_THAT(ended.out + ended.err, !Contains("note: "));
  const std::string text = sandbox.run({"show", "-v", sandbox.output() + "/summary.json"}).out;
  CHECK_THAT(text, Contains("perhaps created by another program: "));
  CHECK(text.find("note: ") == text.rfind("note: "));
  CHECK(wrong_with_reports(sandbox).empty());
  sandbox.sweep();
}

TEST_CASE("System V objects that a rank used are its leaks, and unused ones are a note", "[alone]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended =
      sandbox.run({"run", "--output", sandbox.output(), "--filter", "Alternates.system_v/*", plugin("alternates")});
  const Summary summary = sandbox.summary();
  REQUIRE(summary.tests.size() == 3);
  for (const TestResult& test : summary.tests) {
    INFO(test.id << ": " << test.message);
    const bool unused = test.id.ends_with("unused");
    CHECK(test.verdict == (unused ? "pass" : "leak"));
    CHECK(test.attempts.at(0).leaks.size() == (unused ? 0 : 1));
    for (const LeakResult& leak : test.attempts.at(0).leaks) {
      CHECK(leak.kind == (test.id.ends_with("queue") ? "message queue" : "semaphores"));
      CHECK_FALSE(leak.removed);
      remove_object(leak.what);
    }
  }
  int notes = 0;
  for (const std::string& name : summary.appeared) {
    if (!name.starts_with("System V semaphores")) continue;
    ++notes;
    remove_object(name);
  }
  CHECK(notes >= 1);  // a neighbour may have created more
  sandbox.sweep();
}

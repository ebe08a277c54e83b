// --private-tmp: the ranks of an attempt have a private /tmp and /dev/shm.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compare.hpp"
#include "programs.hpp"
#include "support/skip.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

constexpr char kDenied[] = "which are denied here";

// Runs distrun in this sandbox, with a start directory in /tmp, where much of what ranks need lies in /tmp.
Ended run_private(const Sandbox& sandbox, Texts arguments, Texts before = {}) {
  Command command = sandbox.command(std::move(arguments));
  command.environment.push_back("FIXTURE_START_DIR=" + sandbox.start_directory());
  before.push_back(command.program);
  command.program = before.front();
  command.arguments.insert(command.arguments.begin(), before.begin() + 1, before.end());
  return Running(std::move(command)).wait(scaled(milliseconds(30'000)));
}

// Returns a prefix for commands that removes root's right to mount, so that distrun uses a user namespace as for other
// users.
Texts as_no_administrator() {
  return ::geteuid() == 0 ? Texts{"/usr/bin/setpriv", "--bounding-set", "-sys_admin"} : Texts{};
}

void require_allowed(const Ended& ended) {
  skip_case_if(ended.err.find(kDenied) != std::string::npos, "this machine allows no namespaces");
}

const TestResult& test_of(const Summary& summary, const std::string& name) {
  const auto found = std::find_if(summary.tests.begin(), summary.tests.end(),
                                  [&](const TestResult& test) { return test.id == "Privates." + name; });
  REQUIRE(found != summary.tests.end());
  return *found;
}

// Returns the kinds and names of leaks, all of which must have been removed.
std::vector<std::string> sorted_leaks(const AttemptResult& attempt) {
  std::vector<std::string> left;
  for (const LeakResult& leak : attempt.leaks) {
    CHECK(leak.removed);
    left.push_back(leak.kind + " " + leak.what);
  }
  std::sort(left.begin(), left.end());
  return left;
}

}  // namespace

TEST_CASE("with --private-tmp ranks have a private /tmp and /dev/shm", "[private][alone]") {
  skip_case_if(DISTRUN_SANITIZED_THREADS != 0, "the sanitizer has started a thread before a rank can enter");
  const std::string isolation = GENERATE("process", "exec", "pool", "threads");
  const Texts before = GENERATE(Texts{}, as_no_administrator());
  const Sandbox sandbox(distrun_program());
  const std::string outside = sandbox.temp() + "/fixture-outside";
  write_file(outside, "of another user");
  write_file("/dev/shm/fixture-untagged-outside", "of another user");
  Texts arguments{"run",
                  "--output",
                  sandbox.output(),
                  "--private-tmp",
                  "--isolation",
                  isolation,
                  "--repeat",
                  "2",
                  "--env",
                  "FIXTURE_OUTSIDE=" + outside,
                  plugin("privates")};
  const Ended ended = run_private(sandbox, arguments, before);
  INFO(isolation << ": " << ended.out << ended.err);
  ::unlink("/dev/shm/fixture-untagged-outside");
  require_allowed(ended);
  const Summary summary = sandbox.summary();
  REQUIRE(summary.tests.size() == 5);
  for (const TestResult& test : summary.tests) {
    CHECK(test.verdict == (test.id == "Privates.leaves" ? "leak" : "pass"));
  }
  for (const AttemptResult& attempt : test_of(summary, "leaves").attempts) {
    CHECK(sorted_leaks(attempt) == std::vector<std::string>{"file /tmp/fixture-untagged-directory (private)",
                                                            "shared memory /dev/shm/fixture-untagged-memory (private)",
                                                            "socket /tmp/fixture-untagged-socket (private)"});
  }
  CHECK(exists(outside));
  ::unlink(outside.c_str());
  for (const std::string& left : sandbox.remains()) FAIL_CHECK(left);
  sandbox.sweep();
}

TEST_CASE("concurrent tests have a private /tmp each, and directories kept for inspection can be found",
          "[private][alone]") {
  skip_case_if(DISTRUN_SANITIZED_THREADS != 0, "the sanitizer has started a thread before a rank can enter");
  const Sandbox sandbox(distrun_program());
  const Ended ended =
      run_private(sandbox, {"run", "--output", sandbox.output(), "--private-tmp", "--jobs", "3", "--repeat", "6",
                            "--keep-work-dir", "--filter", "Privates.leaves", "--filter", "Privates.ranks_*",
                            "--filter", "Privates.nothing_*", "--env", "FIXTURE_OUTSIDE=/nothing", plugin("privates")});
  INFO(ended.out << ended.err);
  require_allowed(ended);
  const Summary summary = sandbox.summary();
  REQUIRE(summary.tests.size() == 4);
  for (const TestResult& test : summary.tests) {
    CHECK(test.verdict == (test.id == "Privates.leaves" ? "leak" : "pass"));
    for (const AttemptResult& attempt : test.attempts) {
      CHECK(attempt.leaks.size() == (test.id == "Privates.leaves" ? 3 : 0));
      for (const LeakResult& leak : attempt.leaks) {
        CHECK_FALSE(leak.removed);
        const std::size_t end = leak.what.find(" (the private /");
        REQUIRE(end != std::string::npos);
        CHECK(exists(leak.what.substr(0, end)));
      }
    }
  }
  sandbox.sweep();
}

TEST_CASE("a program of exec has a private /tmp", "[private][exec][alone]") {
  const Texts before = GENERATE(Texts{}, as_no_administrator());
  const Sandbox sandbox(distrun_program());
  const Texts words{"exec", "--private-tmp", "-w", "2", "--output", sandbox.output(), "--", "/bin/sh", "-c"};
  Texts good = words;
  good.push_back(
      "test -w /tmp && test \"$TMPDIR\" = /tmp && test \"$PWD\" = \"$FIXTURE_START_DIR\" && "
      "mktemp | xargs rm");
  const Ended ended = run_private(sandbox, good, before);
  INFO(ended.out << ended.err);
  require_allowed(ended);
  CHECK(ended.exit_code == 0);
  Texts bad = words;
  bad.push_back("echo x > /tmp/fixture-untagged-$RANK");
  const Ended leaky = run_private(sandbox, bad, before);
  INFO(leaky.out << leaky.err);
  CHECK(leaky.exit_code == 1);
  CHECK(sandbox.summary().tests.at(0).attempts.at(0).leaks.size() == 2);
  CHECK_THAT(leaky.err, Contains("/tmp/fixture-untagged-1 (private)"));
  for (const std::string& left : sandbox.remains()) FAIL_CHECK(left);
  sandbox.sweep();
}

TEST_CASE("each of several hosts gives its ranks a private /tmp and /dev/shm", "[private][hosts][alone]") {
  skip_case_if(DISTRUN_SANITIZED_THREADS != 0, "the sanitizer has started a thread before a rank can enter");
  const std::string isolation = GENERATE("process", "exec", "pool");
  const Sandbox sandbox(distrun_program());
  const Ended ended = run_private(sandbox, {"run",
                                            "--output",
                                            sandbox.output(),
                                            "--private-tmp",
                                            "--hosts",
                                            "a:1,b:3",
                                            "--launcher",
                                            "local",
                                            "--isolation",
                                            isolation,
                                            "--repeat",
                                            "2",
                                            "--filter",
                                            "Privates.leaves",
                                            "--filter",
                                            "Privates.nothing_*",
                                            "--filter",
                                            "Privates.what_*",
                                            "--env",
                                            "FIXTURE_OUTSIDE=/nothing",
                                            plugin("privates")});
  INFO(isolation << ": " << ended.out << ended.err);
  require_allowed(ended);
  const Summary summary = sandbox.summary();
  REQUIRE(summary.tests.size() == 3);
  for (const TestResult& test : summary.tests) {
    CHECK(test.verdict == (test.id == "Privates.leaves" ? "leak" : "pass"));
    CHECK(test.attempts.size() == 2);
  }
  for (const AttemptResult& attempt : test_of(summary, "leaves").attempts) {
    CHECK(sorted_leaks(attempt) ==
          std::vector<std::string>{"file /tmp/fixture-untagged-directory (private) on b",
                                   "shared memory /dev/shm/fixture-untagged-memory (private) on b",
                                   "socket /tmp/fixture-untagged-socket (private) on b"});
  }
  for (const std::string& left : sandbox.remains()) FAIL_CHECK(left);
  sandbox.sweep();
}

TEST_CASE("a program on several hosts has a private /tmp on each of them", "[private][exec][hosts][alone]") {
  const Texts before = GENERATE(Texts{}, as_no_administrator());
  const Sandbox sandbox(distrun_program());
  const Ended ended = run_private(
      sandbox,
      {"exec", "--private-tmp", "--hosts", "a,b", "--launcher", "local", "-w", "2", "--output", sandbox.output(), "--",
       "/bin/sh", "-c", "test \"$TMPDIR\" = /tmp && touch /tmp/fixture-untagged-$RANK /dev/shm/fixture-untagged-$RANK"},
      before);
  INFO(ended.out << ended.err);
  require_allowed(ended);
  CHECK(ended.exit_code == 1);
  CHECK(sorted_leaks(sandbox.summary().tests.at(0).attempts.at(0)) ==
        std::vector<std::string>{"file /tmp/fixture-untagged-0 (private) on a",
                                 "file /tmp/fixture-untagged-1 (private) on b",
                                 "shared memory /dev/shm/fixture-untagged-0 (private) on a",
                                 "shared memory /dev/shm/fixture-untagged-1 (private) on b"});
  for (const std::string& left : sandbox.remains()) FAIL_CHECK(left);
  sandbox.sweep();
}

TEST_CASE("if the kernel denies mounts, --private-tmp is refused before any test", "[private]") {
  const Sandbox sandbox(distrun_program());
  const Texts before{"/usr/bin/unshare", "--user", "--map-root-user",
                     "/bin/sh",          "-c",     "echo 0 >/proc/sys/user/max_mnt_namespaces && exec \"$0\" \"$@\""};
  const bool on_hosts = GENERATE(false, true);
  Texts arguments{"run", "--private-tmp", "--filter", "Passes.trivial", plugin("passes")};
  if (on_hosts) arguments.insert(arguments.end(), {"--hosts", "a,b", "--launcher", "local"});
  const Ended ended = run_private(sandbox, arguments, before);
  INFO(ended.out << ended.err);
  skip_case_if(ended.err.find("unshare failed") != std::string::npos, "this machine allows no user namespaces");
  CHECK(ended.exit_code == 3);
  CHECK_THAT(ended.out + ended.err, Contains("--private-tmp needs private mounts") && Contains(kDenied) &&
                                        Contains("unshare: No space left on device"));
  CHECK(Contains("(on a)").match(ended.out + ended.err) == on_hosts);
  CHECK_THAT(ended.out + ended.err, !Contains("Passes.trivial"));
  sandbox.sweep();
}

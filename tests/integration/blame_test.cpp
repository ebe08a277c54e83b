// The blame for a failure must not depend on which of several processes was faster. tests/fixtures/expected_blame.hpp
// has the expected result of each way to end.
#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <vector>

#include "programs.hpp"

namespace {

using namespace distrun::testing;

std::set<std::string> all_messages(const TestResult& test) {
  std::set<std::string> messages;
  for (const AttemptResult& attempt : test.attempts) {
    CHECK(attempt.culprits == std::vector<int>{1});
    messages.insert(attempt.verdict + ": " + attempt.message);
  }
  return messages;
}

// Runs one cell of the table ten times.
TestResult repeat(const std::string& how, const std::string& need, const std::string& transport) {
  const Sandbox sandbox(distrun_program());
  sandbox.run({"run", "--output", sandbox.output(), "--repeat", "10", "--rpc-transport", transport, "--filter",
               "Blame.ends/how=" + how + ",need=" + need, plugin("blame")},
              scaled(milliseconds(60'000)));
  sandbox.sweep();
  return sandbox.summary().tests.at(0);
}

}  // namespace

TEST_CASE("ten runs in which a rank dies give the same report, over each transport", "[blame]") {
  const std::string transport = GENERATE("shm", "uds", "tcp");
  const std::string how = GENERATE("kill", "exit1");
  const std::string need = GENERATE("call", "shutdown");
  const TestResult test = repeat(how, need, transport);
  const std::string wanted = how == "kill"
                                 ? "crash: rank 1 was killed by signal 9 (SIGKILL) in the test body"
                                 : "crash: rank 1 exited with code 1 without a result in the test body: exit() was ";
  INFO(transport << ", " << how << ", " << need);
  REQUIRE(test.attempts.size() == 10);
  for (const std::string& message : all_messages(test)) CHECK_THAT(message, Catch::StartsWith(wanted));
}

TEST_CASE("ten runs in which a rank throws before the others' shutdown give the same report", "[blame]") {
  const TestResult test = repeat("throw", "shutdown", "best");
  REQUIRE(test.attempts.size() == 10);
  const std::set<std::string> messages = all_messages(test);
  CHECK(messages.size() == 1);
  CHECK_THAT(*messages.begin(), Catch::StartsWith("fail: rank 1 failed: no more paper ("));
}

// Each of the other ranks reads what only rank 1 writes, and fails at end-of-file.
TEST_CASE("a program that is killed is blamed for those that fail after it", "[blame][exec]") {
  const std::string script =
      "f=$DISTRUN_TEMP_DIR/fifo$RANK; "
      "if [ $RANK != 1 ]; then mkfifo $f; read word < $f; exit 1; fi; "
      "for i in 0 2; do while [ ! -p $DISTRUN_TEMP_DIR/fifo$i ]; do sleep 0.01; done; done; "
      "exec 4> $DISTRUN_TEMP_DIR/fifo0 5> $DISTRUN_TEMP_DIR/fifo2; kill -KILL $$";
  for (int run = 0; run < 10; ++run) {
    const Sandbox sandbox(distrun_program());
    sandbox.run({"exec", "--output", sandbox.output(), "-w", "3", "--", "/bin/sh", "-c", script});
    const TestResult test = sandbox.summary().tests.at(0);
    CHECK(test.verdict == "crash");
    CHECK(test.message == "rank 1 was killed by signal 9 (SIGKILL) in the test body");
    CHECK(test.attempts.at(0).culprits == std::vector<int>{1});
  }
}

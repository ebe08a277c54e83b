// Errors in the use of devices are reported as what they are.
#include <signal.h>

#include <catch2/catch.hpp>

#include "run_case.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

AttemptResult run_fault(const std::string& test, Texts more = {}) {
  const std::string id = "DeviceFaults." + test;
  more.insert(more.end(), {"--gpu-driver", "virtual", "--gpus", "2"});
  return run_tests(DISTRUN_DEVICE_CASES, {id}, more).attempt(id);
}

}  // namespace

TEST_CASE("host code that touches device memory crashes, and the report names the memory") {
  const AttemptResult attempt = run_fault("host_code_touches_device_memory");
  CHECK(attempt.verdict == "crash");
  CHECK(attempt.ranks.at(1).signal == SIGSEGV);
  REQUIRE_FALSE(attempt.ranks.at(1).error_texts.empty());
  CHECK_THAT(attempt.ranks.at(1).error_texts.front(),
             Contains("host code accessed device memory of cuda:1 (allocated at ") && Contains("device_cases.cpp:13") &&
                 Contains("host_code_touches_device_memory"));
}

TEST_CASE("unordered work on two streams fails the test of its rank") {
  const std::string isolation = GENERATE(values<std::string>({"process", "threads"}));
  const AttemptResult attempt = run_fault("streams_without_order", {"--isolation", isolation});
  CHECK(attempt.verdict == "fail");
  CHECK(outcomes_of(attempt) == Texts{"failed", "passed"});
  REQUIRE(attempt.ranks.at(0).error_texts.size() == 1);
  CHECK_THAT(attempt.ranks.at(0).error_texts.front(), Contains("the write by fill at ") &&
                                                          Contains("device_cases.cpp:24 on cuda:0 stream") &&
                                                          Contains("is not ordered after the write by fill at") &&
                                                          Contains("device_cases.cpp:23 on cuda:0 default stream"));
}

TEST_CASE("unordered operators are reported with the lines of the plugin that called them") {
  const AttemptResult attempt = run_fault("operators_without_order");
  CHECK(attempt.verdict == "fail");
  REQUIRE(attempt.ranks.at(0).error_texts.size() == 1);
  CHECK_THAT(attempt.ranks.at(0).error_texts.front(), Contains("the read by add at ") &&
                                                          Contains("device_cases.cpp:43 on cuda:0 stream") &&
                                                          Contains("is not ordered after the write by mul_ at ") &&
                                                          Contains("device_cases.cpp:41 on cuda:0 default stream"));
}

TEST_CASE("a rank that waits for a stream shows this wait") {
  const AttemptResult attempt = run_fault("a_stream_never_comes_to_its_end", {"--timeout", bound(700)});
  CHECK(attempt.verdict == "timeout");
  REQUIRE_FALSE(attempt.snapshots.empty());
  CHECK_THAT(attempt.snapshots.front().text, Contains("cuda:1 default stream") && Contains("device_cases.cpp"));
}

TEST_CASE("ranks with one virtual GPU each have nccl groups, and call each other with its tensors") {
  const std::string isolation = GENERATE(values<std::string>({"process", "exec", "pool"}));
  INFO(isolation);
  const CaseRun run =
      run_tests(DISTRUN_DEVICE_CASES, {"OwnGpu.*"},
                {"--gpu-driver", "virtual", "--gpus", "3", "--backend", "nccl", "--isolation", isolation});
  REQUIRE(run.summary.tests.size() == 3);
  for (const TestResult& test : run.summary.tests) {
    INFO(test.id << ": " << test.message);
    CHECK(test.verdict == "pass");
  }
}

TEST_CASE("a plugin with a missing runtime library is reported with what to do") {
  const Sandbox sandbox(DISTRUN_BIN);
  const Ended ended = sandbox.run({"list", DISTRUN_LOST_RUNTIME});
  CHECK(ended.exit_code != 0);
  CHECK_THAT(ended.out + ended.err, Contains("libdistrun.so.1: cannot open shared object file") &&
                                        Contains("its runtime, which is searched") && Contains("LD_LIBRARY_PATH"));
}

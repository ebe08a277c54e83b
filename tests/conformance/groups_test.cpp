// Process groups around tests, seen from outside: their end, and the report of those that cannot be opened.
#include <catch2/catch.hpp>

#include "run_case.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

constexpr char kUnavailable[] = "Skipped because distributed backend is not available.";

// Returns "pass", or the text of the skip, which stands for its code in the table of skips.
std::string gate_of(const std::string& backend, const std::string& gpus) {
  const std::string id = "GatedDistBackend.passes";
  Texts arguments{"--world-size", "4", "--backend", backend, "--gpu-driver", gpus.empty() ? "none" : "virtual"};
  if (!gpus.empty()) arguments.insert(arguments.end(), {"--gpus", gpus});
  const CaseRun run = run_tests(DISTRUN_GROUP_CASES, {id}, arguments);
  const TestResult& test = run.test(id);
  return test.verdict == "skip" ? test.message : test.verdict;
}

}  // namespace

TEST_CASE("groups that a test has left open are closed silently at its end",
          "[row:multiprocess/extra-upstream-feature-not-in-this-seed]") {
  const std::string isolation = GENERATE(values<std::string>({"process", "exec", "pool", "threads"}));
  INFO(isolation);
  const CaseRun run = run_tests(DISTRUN_GROUP_CASES, {"LeftOpen.*"}, {"--isolation", isolation, "--leaks", "strict"});
  CHECK(run.ended.exit_code == 0);
  CHECK(run.remains.empty());
  REQUIRE(run.summary.tests.size() == 3);
  for (const TestResult& test : run.summary.tests) {
    INFO(test.id << ": " << test.message);
    CHECK(test.verdict == "pass");
    for (const RankResult& rank : test.attempts.at(0).ranks) {
      CHECK(rank.error_texts.empty());
      CHECK(rank.notes.empty());
      CHECK((rank.out + rank.err).empty());
    }
  }
  // The same process runs the next test and finds no open group.
  const bool stays = isolation == "pool" || isolation == "threads";
  const auto pid_of = [&](const std::string& id) { return run.attempt(id).ranks.at(0).pid; };
  CHECK((pid_of("LeftOpen.by_a_test") == pid_of("LeftOpen.by_the_next_test")) == stays);
}

TEST_CASE("a rank with a body that ends early is the cause, and no rank waits for it after the bodies",
          "[row:distbackend/barriers-are-outside-the-test]") {
  const CaseRun run = run_tests(DISTRUN_GROUP_CASES, {"TestDistBackend.*_on_one_rank"}, {"--timeout", "50s"});
  REQUIRE(run.summary.tests.size() == 4);
  for (const TestResult& test : run.summary.tests) {
    INFO(test.id << ": " << test.message);
    const AttemptResult& attempt = test.attempts.at(0);
    CHECK(attempt.verdict == (test.id == "TestDistBackend.ends_on_one_rank" ? "crash" : "fail"));
    CHECK(attempt.culprits == std::vector<int>{1});
    CHECK(attempt.duration_ms < scaled(milliseconds(10'000)).count());  // far below the bound
  }
}

TEST_CASE("an unavailable backend skips with its code, and other reasons why a group cannot be opened are reported",
          "[row:distbackend/backend-not-compiled-in]") {
  const std::string id = "TestDistBackend.passes";
  const CaseRun run = run_tests(DISTRUN_GROUP_CASES, {id}, {"--backend", "mpi"});
  CHECK(run.attempt(id).verdict == "skip");
  CHECK(run.attempt(id).message == kUnavailable);
  CHECK_THAT(run.events, Contains("\"skip_code\":72"));
  for (const RankResult& rank : run.attempt(id).ranks) CHECK_THAT(rank.notes.at("backend"), Contains("without MPI"));
  const AttemptResult refused = run_tests(DISTRUN_GROUP_CASES, {id}, {"--backend", "threads"}).attempt(id);
  CHECK(refused.verdict == "fail");
  CHECK_THAT(refused.message, Contains("backend threads is for ranks of one process"));
}

TEST_CASE("a suite may require a device for each rank: with nccl always, with others if there are devices",
          "[row:skip_condition/rank-side-gate-of-TestDistBackend]") {
  CHECK(gate_of("nccl", "") == "CUDA is not available.");
  for (const char* const backend : {"nccl", "gloo", "shm"}) {
    INFO(backend);
    CHECK(gate_of(backend, "2") == "Need at least 4 CUDA devices");
  }
  CHECK(gate_of("shm", "") == "pass");
  CHECK(gate_of("shm", "4") == "pass");
  CHECK(gate_of("nccl", "4") == "pass");
}

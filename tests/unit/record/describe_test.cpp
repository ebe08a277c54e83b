#include <catch2/catch.hpp>

#include <distrun/runner/record/describe.hpp>
#include <distrun/runner/record/judge.hpp>

#include "samples.hpp"

using namespace distrun::runner;
using samples::attempt_of;
using enum OutcomeKind;

namespace {

// Returns the message for such a finding of the judge.
std::string told(AttemptRecord attempt, const std::vector<int>& culprits, CauseKind kind = CauseKind::Action,
                 int rank = -1) {
  attempt.culprits = culprits;
  attempt.cause = {kind, rank >= 0 ? rank : culprits.front()};
  return describe_cause(attempt);
}

}  // namespace

TEST_CASE("a first cause is described in one sentence") {
  struct Row {
    std::vector<OutcomeKind> kinds;
    std::vector<int> culprits;
    const char* text;
  };
  const Row rows[] = {
      {{Failed}, {0}, "rank 0 failed: token is lost (ring.cpp:41)"},
      {{Passed, Failed, Failed}, {1, 2}, "rank 1 failed: token is lost (ring.cpp:41); so did rank 2"},
      {{Failed, Failed, Failed, Failed},
       {2, 0, 1, 3},
       "rank 2 failed: token is lost (ring.cpp:41); so did ranks 0-1, 3"},
      {{Signaled}, {0}, "rank 0 was killed by signal 11 (SIGSEGV) in the test body"},
      {{Signaled, Signaled}, {0, 1}, "rank 0 was killed by signal 11 (SIGSEGV) in the test body; so was rank 1"},
      {{Lost, Lost, Lost}, {0, 1, 2}, "rank 0 was lost: its connection broke; so were ranks 1-2"},
      {{Exited}, {0}, "rank 0 exited with code 3 without a result in the test body"},
      {{Lost}, {0}, "rank 0 was lost: its connection broke"},
      {{TimedOut}, {0}, "rank 0 timed out after 5.0 s in the test body"},
  };
  for (const Row& row : rows) {
    INFO("row " << &row - rows);
    CHECK(told(attempt_of(row.kinds), row.culprits) == row.text);
  }
}

TEST_CASE("a sanitizer's report comes before the exit code or signal by which it ended the rank") {
  RankError error = samples::error_of("heap-buffer-overflow, WRITE of size 1", false);
  error.type = "AddressSanitizer";
  error.is_crash = true;
  const std::string report = "AddressSanitizer: heap-buffer-overflow, WRITE of size 1 (ring.cpp:41)";
  AttemptRecord exited = attempt_of({Exited});
  exited.ranks[0].errors = {error};
  CHECK(told(exited, {0}) == "rank 0 failed: " + report + ", and exited with code 3 without a result in the test body");
  CHECK(crash_text(exited.ranks[0]) == report);
  AttemptRecord aborted = attempt_of({Signaled});
  RankError handler = samples::error_of("in f", false);
  handler.is_crash = true;
  aborted.ranks[0].errors = {handler, error};
  CHECK(told(aborted, {0}) == "rank 0 failed: " + report + ", and was killed by signal 11 (SIGSEGV) in the test body");
}

TEST_CASE("the error that ended the body is the one that is reported") {
  AttemptRecord attempt = attempt_of({Failed});
  RankRecord& rank = attempt.ranks[0];
  rank.errors = {samples::error_of("2 == 3", false), samples::error_of("token is lost")};
  CHECK(told(attempt, {0}) == "rank 0 failed: token is lost (ring.cpp:41)");
  rank.errors.pop_back();
  CHECK(told(attempt, {0}) == "rank 0 failed: 2 == 3 (ring.cpp:41)");
  rank.errors[0].file = "";
  CHECK(told(attempt, {0}) == "rank 0 failed: 2 == 3");
  rank.errors.clear();
  CHECK(told(attempt, {0}) == "rank 0 failed in the test body");
  rank.exit_code = 10;
  CHECK(told(attempt, {0}) ==
        "rank 0 failed: it exited with code 10, which means a test error, but reported none (did the test close "
        "descriptor 3, its connection to distrun?) in the test body");
}

TEST_CASE("a timeout names the waiting ranks and their waits") {
  AttemptRecord attempt = attempt_of({TimedOut, TimedOut, TimedOut});
  attempt.ranks[1].waiting_in = attempt.ranks[2].waiting_in = "barrier \"x\"";
  CHECK(told(attempt, {0}) == "rank 0 timed out after 5.0 s in the test body; ranks 1-2 waited in barrier \"x\"");
  attempt.ranks[0].waiting_in = "barrier \"y\"";
  CHECK_THAT(told(attempt, {2, 0, 1}), Catch::Contains("ranks 1-2 waiting in barrier \"x\""));
  CHECK_THAT(told(attempt, {0, 1, 2}), Catch::Contains("rank 0 waiting in barrier \"y\""));
}

TEST_CASE("a rank that waited in vain names the rank it waited for") {
  AttemptRecord attempt = attempt_of({TimedOut, KilledByUs});
  attempt.ranks[0].waiting_in = "barrier \"x\"";
  attempt.ranks[1].phase = distrun::wire::Phase::SetUp;
  CHECK(told(attempt, {1}, CauseKind::Awaited, 0) ==
        "rank 0 timed out after 5.0 s in the test body, waiting in barrier \"x\" for rank 1 in set-up");
}

TEST_CASE("a rank that left early is reported with the error of the rank that noticed") {
  AttemptRecord attempt = attempt_of({Skipped, Failed});
  attempt.ranks[1].because_of = 0;
  attempt.ranks[1].errors[0].text = "rank 0 finished without entering barrier \"x\"";
  CHECK(told(attempt, {0}, CauseKind::LeftEarly, 1) ==
        "outcomes disagree: rank 0 skipped (no network), rank 1 failed: "
        "rank 0 finished without entering barrier \"x\"");
  attempt.ranks[0].outcome = samples::outcome_of(Passed);
  CHECK(told(attempt, {0}, CauseKind::LeftEarly, 1) == "rank 0 finished without entering barrier \"x\"");
  attempt.ranks[1].errors.clear();
  CHECK(told(attempt, {0}, CauseKind::LeftEarly, 1) == "failed");
}

TEST_CASE("a disagreement names one rank of each side") {
  const AttemptRecord attempt = attempt_of({Passed, Skipped, Skipped});
  CHECK(told(attempt, {1}, CauseKind::Disagreement) == "outcomes disagree: rank 1 skipped (no network), rank 0 passed");
}

TEST_CASE("leaks are listed by kind and name, the first three of them") {
  std::vector<Leak> leaks{{LeakKind::Process, "4711 (sleep 100)", true}};
  CHECK(describe_leaks(leaks) == "left behind: process 4711 (sleep 100)");
  leaks.push_back({LeakKind::SharedMemory, "/dev/shm/x", false});
  leaks.push_back({LeakKind::Socket, "/tmp/s", false});
  CHECK(describe_leaks(leaks) == "left behind: process 4711 (sleep 100), shared memory /dev/shm/x, socket /tmp/s");
  leaks.push_back({LeakKind::File, "/tmp/a", false});
  leaks.push_back({LeakKind::File, "/tmp/b", false});
  CHECK_THAT(describe_leaks(leaks), Catch::EndsWith("socket /tmp/s and 2 more"));
}

TEST_CASE("outcomes have a description") {
  CHECK(describe(samples::outcome_of(Passed)) == "passed");
  CHECK(describe(samples::outcome_of(Skipped)) == "skipped: no network");
  CHECK(describe(samples::outcome_of(Exited)) == "exited with code 3 without a result");
  CHECK(describe(samples::outcome_of(Signaled)) == "killed by signal 11 (SIGSEGV)");
  CHECK(describe(samples::outcome_of(TimedOut)) == "timed out");
  CHECK(describe(samples::outcome_of(Lost)) == "lost: its connection broke");
  CHECK(describe({Lost, 0, ""}) == "lost");
  CHECK(describe(samples::outcome_of(KilledByUs)) == "ended by distrun");
}

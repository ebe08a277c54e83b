// Texts about ranks that run on several hosts.
#include <catch2/catch.hpp>

#include <distrun/runner/record/describe.hpp>
#include <distrun/runner/record/judge.hpp>
#include <distrun/runner/record/snapshot.hpp>

#include "samples.hpp"
#include "views.hpp"

using namespace distrun;
using namespace distrun::runner;
using samples::attempt_of;
using enum OutcomeKind;

namespace {

// The first half of the ranks runs on node01, the other on node02.
AttemptRecord on_two_hosts(AttemptRecord attempt) {
  for (RankRecord& rank : attempt.ranks) {
    const bool is_first = static_cast<std::size_t>(rank.rank) < attempt.ranks.size() / 2;
    rank.host = is_first ? "node01" : "node02";
  }
  return attempt;
}

std::string told(const std::vector<OutcomeKind>& kinds, const std::vector<int>& culprits,
                 CauseKind kind = CauseKind::Action) {
  AttemptRecord attempt = on_two_hosts(attempt_of(kinds));
  attempt.culprits = culprits;
  attempt.cause = {kind, culprits.front()};
  return describe_cause(attempt);
}

}  // namespace

TEST_CASE("the cause of an attempt on several hosts names the host of each rank") {
  CHECK(told({Passed, Passed, Passed, Signaled}, {3}) ==
        "rank 3 on node02 was killed by signal 11 (SIGSEGV) in the test body");
  CHECK(told({Failed, Failed, Failed, Failed}, {2, 0, 1, 3}) ==
        "rank 2 on node02 failed: token is lost (ring.cpp:41); so did ranks 0-1 on node01, 3 on node02");
  CHECK(told({Passed, Skipped, Passed, Passed}, {1}, CauseKind::Disagreement) ==
        "outcomes disagree: rank 1 on node01 skipped (no network), rank 0 on node01 passed");
}

TEST_CASE("an attempt on one other host names it too") {
  AttemptRecord attempt = attempt_of({Passed, Failed});
  for (RankRecord& rank : attempt.ranks) rank.host = "node07";
  CHECK(hosts_of(attempt).label({0, 1}) == "ranks 0-1 on node07");
}

TEST_CASE("ranks of several hosts that wait alike share a line of a snapshot, with their hosts") {
  Snapshot snapshot;
  snapshot.at_ns = views::kNow;
  for (const int rank : {0, 1, 3}) snapshot.ranks.push_back(views::in_barrier(rank, "meet"));
  snapshot.ranks.push_back(views::in_body(2));
  snapshot.ranks.back().shown->errors = {"future (a.cpp:1) failed: no"};
  snapshot.hosts = base::RankHosts({"node01", "node01", "node02", "node02"});
  std::vector<std::string> lines;
  for (const evidence::Line& line : describe(snapshot)) lines.push_back(evidence::plain(line));
  CHECK(lines == std::vector<std::string>{
                     "rank 2 on node02 has been running the test body for 3.0 s (no wait recorded)",
                     "ranks 0-1 on node01, 3 on node02 have waited for 2.0 s in barrier \"meet\" for rank 2 on node02",
                     "rank 2 on node02: unseen error: future (a.cpp:1) failed: no"});
}

TEST_CASE("stacks of several hosts are grouped, and name the hosts of their ranks and of what these have started") {
  Snapshot snapshot;
  snapshot.hosts = snapshot.stacks.hosts = base::RankHosts({"node01", "node02"});
  for (int rank = 0; rank < 2; ++rank) {
    evidence::Process& process = snapshot.stacks.processes.emplace_back();
    process.index = process.rank = rank;
    process.host = rank + 1;
    process.pid = 4700;
    process.threads.emplace_back().task = {};
    process.threads.front().task.tid = 4700;
    process.threads.front().task.state = 'S';
  }
  snapshot.stacks.processes.push_back(snapshot.stacks.processes.back());
  evidence::Process& child = snapshot.stacks.processes.back();
  child.rank = -1;
  child.of_rank = 1;
  child.command = "sleep";
  child.pid = child.threads.front().task.tid = 4701;
  child.threads.front().task.syscall = "read(0)";
  std::string text;
  for (const evidence::Line& line : describe(snapshot)) text += evidence::plain(line) + "\n";
  CHECK_THAT(text, Catch::Contains("ranks 0 on node01, 1 on node02 (main threads"));
  CHECK_THAT(text, Catch::Contains("rank 1's child 4701 (sleep) on node02"));
}

TEST_CASE("a rank that a wait or an operation names has its host, too") {
  Snapshot snapshot;
  snapshot.at_ns = views::kNow;
  snapshot.hosts = base::RankHosts({"node01", "node02"});
  snapshot.ranks.push_back(views::in_body(0));
  snapshot.ranks.back().shown->operations = {{1, board::WaitKind::Send, "go", 0, 1, views::kNow}};
  std::string text;
  for (const evidence::Line& line : describe(snapshot)) text += evidence::plain(line) + "\n";
  CHECK_THAT(text, Catch::Contains("send \"go\" to rank 1 on node02"));
}

// ---- failures that happen at almost the same time

namespace {

// The ranks failed on two hosts, at these microseconds, with clocks that are wrong by up to 100 us each.
AttemptRecord failed_at(const std::vector<int>& times_us, AttemptRecord attempt) {
  attempt = on_two_hosts(std::move(attempt));
  for (RankRecord& rank : attempt.ranks) {
    const auto at = std::chrono::microseconds(times_us.at(static_cast<std::size_t>(rank.rank)));
    rank.failed_at = RemoteTime{at, std::chrono::microseconds(100)};
  }
  return attempt;
}

}  // namespace

TEST_CASE("ranks that fail alike on two hosts within the error of their clocks failed at the same time") {
  AttemptRecord attempt = failed_at({1000, 1150, 1100, 5000}, attempt_of({Failed, Passed, Failed, Failed}));
  conclude(attempt);
  CHECK(attempt.culprits == std::vector{0, 2, 3});
  CHECK(attempt.message ==
        "rank 0 on node01 failed: token is lost (ring.cpp:41); so did rank 2 on node02 at the same time (within "
        "200 us, the error of their clocks); so did rank 3 on node02");
}

TEST_CASE("of failures on two hosts, the first by their clocks is the cause, not the one that was told first") {
  AttemptRecord attempt = failed_at({2000, 0, 0, 1000}, attempt_of({Failed, Passed, Passed, Failed}));
  attempt.ranks[3].errors[0].text = "no answer";
  attempt.ranks[3].errors[0].line = 7;
  conclude(attempt);
  CHECK(attempt.message == "rank 3 on node02 failed: no answer (ring.cpp:7); so did rank 0 on node01");
  for (RankRecord& rank : attempt.ranks) rank.host = "node01";  // one clock: the order of the news is right
  conclude(attempt);
  CHECK_THAT(attempt.message, Catch::StartsWith("rank 0 on node01 failed: token is lost"));
}

TEST_CASE("a failure at the same time as a death on another host is told besides") {
  AttemptRecord attempt = failed_at({1000, 0, 0, 1100}, attempt_of({Signaled, Passed, Passed, Failed}));
  conclude(attempt);
  CHECK(attempt.verdict == Verdict::Crash);
  CHECK(attempt.culprits == std::vector{0, 3});
  CHECK(attempt.message ==
        "rank 0 on node01 was killed by signal 11 (SIGSEGV) in the test body; at the same time (within 200 us, the "
        "error of their clocks) rank 3 on node02 failed: token is lost (ring.cpp:41)");
}

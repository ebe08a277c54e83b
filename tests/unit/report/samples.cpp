#include "samples.hpp"

#include <csignal>

namespace distrun::report::samples {
namespace {

using namespace std::chrono_literals;
using runner::OutcomeKind;
using runner::Verdict;

constexpr char kSumIsWrong[] = "rank 2 failed: sum == 6 left: 5, right: 6 (plugins/ring/ring.cpp:41)";

runner::TestRecord test_named(std::string suite, std::string name, Verdict verdict, std::string message) {
  runner::TestRecord test;
  test.info.suite = std::move(suite);
  test.info.name = std::move(name);
  test.info.file = "plugins/ring/ring.cpp";
  test.info.line = 40;
  test.plugin = "build/plugins/ring.so";
  test.variant = {4, "shm", "pipe", "none", Isolation::Process, ""};
  test.verdict = verdict;
  test.message = std::move(message);
  test.duration = 12'345us;
  return test;
}

runner::RankRecord rank_that(int rank, runner::Outcome outcome, wire::Phase phase = wire::Phase::Body) {
  runner::RankRecord record;
  record.rank = rank;
  record.pid = 4000 + rank;
  record.outcome = std::move(outcome);
  record.phase = phase;
  record.checks = 7;
  record.started = 500us;
  record.ended = 11'750us;
  if (record.outcome.kind == OutcomeKind::Passed) record.exit_code = 0;
  if (record.outcome.kind == OutcomeKind::Failed) record.exit_code = 10;
  if (record.outcome.kind == OutcomeKind::Exited) record.exit_code = record.outcome.value;
  if (record.outcome.kind == OutcomeKind::Skipped) record.exit_code = record.outcome.value;
  if (record.outcome.kind == OutcomeKind::Signaled) record.signal = record.outcome.value;
  if (record.outcome.kind == OutcomeKind::KilledByUs) record.signal = SIGKILL;
  return record;
}

// Every rank has `outcome`.
runner::AttemptRecord attempt_of(int ranks, Verdict verdict, const runner::Outcome& outcome,
                                 wire::Phase phase = wire::Phase::Body) {
  runner::AttemptRecord attempt;
  attempt.verdict = verdict;
  attempt.phase = phase;
  attempt.duration = 12'345us;
  for (int rank = 0; rank < ranks; ++rank) attempt.ranks.push_back(rank_that(rank, outcome, phase));
  return attempt;
}

// Rank `culprit` has `outcome`; the others were killed because of it.
runner::AttemptRecord attempt_spoilt_by(int ranks, int culprit, Verdict verdict, runner::Outcome outcome) {
  runner::AttemptRecord attempt = attempt_of(ranks, verdict, {OutcomeKind::KilledByUs, 0, ""});
  for (runner::RankRecord& rank : attempt.ranks) rank.because_of = culprit;
  attempt.ranks[static_cast<std::size_t>(culprit)] = rank_that(culprit, std::move(outcome));
  attempt.culprits = {culprit};
  attempt.cause = {runner::CauseKind::Action, culprit};
  return attempt;
}

runner::Captured captured(std::string text) {
  const std::uint64_t size = text.size();
  return {std::move(text), size, 0};
}

runner::RankError check_failed(std::string text, std::uint32_t line) {
  return {"CheckFailed", std::move(text), "plugins/ring/ring.cpp", line, "", true, -1, 3ms};
}

runner::AttemptRecord failing_attempt() {
  runner::AttemptRecord attempt = attempt_spoilt_by(4, 2, Verdict::Fail, {OutcomeKind::Failed, 0, ""});
  attempt.message = kSumIsWrong;
  attempt.ranks[2].errors.push_back(check_failed("sum == 6\nleft: 5, right: 6", 41));
  attempt.ranks[2].out = captured("step 1\nstep 2\n\nstep 3");
  attempt.ranks[2].err = captured("warning: slow\n");
  attempt.ranks[1].waiting_in = "barrier \"ready\"";
  attempt.ranks[0].out = captured("nobody needs this\n");
  return attempt;
}

std::string numbered_lines(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

}  // namespace

runner::RunRecord empty_run() {
  runner::RunRecord run;
  run.uses_backend = run.uses_agent = true;
  run.run_id = "3f9c0a1b";
  run.started_wall_ns = 1'800'000'000'123'000'000;
  run.duration = 3'456'789us;
  run.machine = {"node1", "Linux 6.1", 8, 16'000'000'000};
  run.settings.plugins = {"build/plugins/ring.so"};
  run.settings.seed = 17;
  run.settings.command_line = {"distrun", "build/plugins/ring.so"};
  return run;
}

runner::TestRecord passing() {
  runner::TestRecord test = test_named("Ring", "broadcast", Verdict::Pass, "");
  test.info.parameters = {{"root", "3"}, {"dtype", "f32"}};
  test.attempts.push_back(attempt_of(4, Verdict::Pass, {OutcomeKind::Passed, 0, ""}, wire::Phase::Exit));
  return test;
}

runner::TestRecord measuring() {
  runner::TestRecord test = passing();
  test.info.name = "measures";
  std::vector<runner::RankRecord>& ranks = test.attempts[0].ranks;
  ranks[0].measures = {{"bandwidth", 12.5, "GB/s"}, {"steps", 3, ""}};
  ranks[1].measures = {{"bandwidth", 11.25, "GB/s"}};
  ranks[3].measures = {{"bandwidth", 13.123456, "GB/s"}, {"bandwidth", 12, "GB/s"}, {"bandwidth", 9, "MB/s"}};
  return test;
}

runner::TestRecord failing() {
  runner::TestRecord test = test_named("Ring", "gather", Verdict::Fail, kSumIsWrong);
  test.attempts.push_back(failing_attempt());
  return test;
}

runner::TestRecord crashing() {
  runner::TestRecord test =
      test_named("Ring", "scatter", Verdict::Crash, "rank 1 was killed by signal 11 (SIGSEGV) in the test body");
  test.attempts.push_back(attempt_spoilt_by(4, 1, Verdict::Crash, {OutcomeKind::Signaled, SIGSEGV, ""}));
  runner::AttemptRecord& attempt = test.attempts.back();
  attempt.message = test.message;
  attempt.ranks[1].errors.push_back(
      {"Crash", "invalid address 0x8", "", 0, "#0 scatter ring.cpp:77\n#1 run_body entry.cpp:12\n", true, -1, 4ms});
  attempt.ranks[3].errors.push_back(
      {"ConnectionError", "rank 1 closed the connection", "libdistrun/rpc/agent.cpp", 210, "", true, 1, 5ms});
  attempt.ranks[3].outcome = {OutcomeKind::Failed, 0, ""};
  attempt.ranks[1].err = captured(numbered_lines(100));
  return test;
}

runner::TestRecord timing_out() {
  runner::TestRecord test = test_named(
      "Ring", "barrier", Verdict::Timeout,
      "rank 3 timed out after 5 min 00 s in the test body; so did ranks 0, 1, waiting in barrier \"end of step\"");
  test.duration = 301s;
  test.attempts.push_back(attempt_of(4, Verdict::Timeout, {OutcomeKind::TimedOut, 0, "5 min 00 s"}));
  runner::AttemptRecord& attempt = test.attempts.back();
  attempt.message = test.message;
  attempt.duration = 301s;
  attempt.culprits = {0, 1, 3};
  for (runner::RankRecord& rank : attempt.ranks) {
    rank.waiting_in = "barrier \"end of step\"";
    rank.signal = SIGTERM;
  }
  attempt.ranks[2] = rank_that(2, {OutcomeKind::Passed, 0, ""}, wire::Phase::Exit);
  attempt.ranks[3].notes.push_back({"stacks", "thread 1: futex_wait\n  wait_all ring.cpp:90"});
  return test;
}

runner::HangCause lock_cycle() {
  runner::HangCause cause;
  cause.kind = runner::HangKind::Deadlock;
  cause.certainty = runner::Certainty::Proven;
  cause.ranks = {0, 1};
  cause.rank = 0;
  cause.pid = cause.tid = 4711;
  cause.thread = "4711 (ring)";
  cause.place = {"step()", "ring.cpp", 60};
  cause.lasted = 900ms;
  cause.victims = {2};
  const std::string waits = "waits in fcntl(F_SETLKW) for lock of /tmp/";
  cause.chain = {{{0}, 4711, 4711, "", waits + "a", {"step()", "ring.cpp", 60}, ", held by "},
                 {{1}, 4712, 4712, "", waits + "b", {"step()", "ring.cpp", 62}, ", held by "},
                 {{0}, 4711, 4711, "", "", {}, ""}};
  cause.evidence = {"the same waits were seen in two snapshots, and nothing else can end them"};
  return cause;
}

runner::TestRecord deadlocked() {
  runner::TestRecord test =
      test_named("Ring", "cycle", Verdict::Deadlock,
                 "deadlock (proven): ranks 0-1 wait for each other; rank 2 waits for them; and 1 more cause");
  test.attempts.push_back(attempt_of(3, Verdict::Deadlock, {OutcomeKind::KilledByUs, 0, ""}));
  runner::AttemptRecord& attempt = test.attempts.back();
  attempt.message = test.message;
  attempt.culprits = {0, 1};
  attempt.hang = {lock_cycle(), lock_cycle()};
  attempt.hang[1].kind = runner::HangKind::Slow;
  attempt.hang[1].certainty = runner::Certainty::Likely;
  attempt.hang[1].ranks = {2};
  attempt.hang[1].victims.clear();
  attempt.hang[1].chain = {{{2}, 4713, 4713, "", "runs", {"step()", "ring.cpp", 70}, ""}};
  attempt.hang[1].contradicted_by = {"a later snapshot finds it in the same place without progress"};
  test.variant.world_size = 3;
  return test;
}

runner::TestRecord skipped() { return test_named("Gpu", "copy", Verdict::Skip, "needs 2 GPUs, 0 are there"); }

runner::TestRecord leaking() {
  runner::TestRecord test =
      test_named("Ring", "leaky", Verdict::Leak, "left behind: process 4711 (sleep 100), shared memory /dev/shm/ring");
  test.attempts.push_back(attempt_of(4, Verdict::Leak, {OutcomeKind::Passed, 0, ""}, wire::Phase::Exit));
  runner::AttemptRecord& attempt = test.attempts.back();
  attempt.message = test.message;
  attempt.leaks.push_back({runner::LeakKind::Process, "4711 (sleep 100)", true});
  attempt.leaks.push_back({runner::LeakKind::SharedMemory, "/dev/shm/ring", false});
  return test;
}

runner::TestRecord flaky() {
  runner::TestRecord test = test_named("Ring", "reduce", Verdict::Flaky, std::string("attempt 1: ") + kSumIsWrong);
  test.attempts.push_back(failing_attempt());
  test.attempts.push_back(attempt_of(4, Verdict::Pass, {OutcomeKind::Passed, 0, ""}, wire::Phase::Exit));
  test.attempts.back().n = 2;
  test.attempts.back().kind = runner::AttemptKind::Retry;
  return test;
}

runner::TestRecord failing_every_retry() {
  runner::TestRecord test = test_named("Ring", "never", Verdict::Fail, kSumIsWrong);
  test.attempts.push_back(failing_attempt());
  test.attempts.push_back(attempt_spoilt_by(4, 0, Verdict::Crash, {OutcomeKind::Exited, 0, ""}));
  test.attempts.back().n = 2;
  test.attempts.back().kind = runner::AttemptKind::Retry;
  test.attempts.back().message = "rank 0 exited with code 0 without a result in the test body";
  return test;
}

runner::TestRecord broken_machine() {
  runner::TestRecord test = test_named("Ring", "unlucky", Verdict::InfraError,
                                       "cannot start rank 3: Resource temporarily unavailable (EAGAIN)");
  test.attempts.push_back(attempt_of(3, Verdict::InfraError, {OutcomeKind::KilledByUs, 0, ""}, wire::Phase::Spawn));
  test.attempts.back().message = test.message;
  test.attempts.back().infra_error = test.message;
  return test;
}

runner::TestRecord cancelled() {
  runner::TestRecord test = test_named("Ring", "late", Verdict::Cancelled, "the user stopped the run");
  test.attempts.push_back(attempt_of(4, Verdict::Cancelled, {OutcomeKind::KilledByUs, 0, ""}));
  test.attempts.back().cancelled = true;
  return test;
}

runner::TestRecord wide() {
  runner::TestRecord test =
      test_named("Ring", "wide", Verdict::Crash, "rank 17 exited with code 0 without a result in the test body");
  test.variant.world_size = 256;
  test.attempts.push_back(attempt_spoilt_by(256, 17, Verdict::Crash, {OutcomeKind::Exited, 0, ""}));
  test.attempts.back().message = test.message;
  for (int rank = 200; rank < 256; rank += 2) {
    test.attempts.back().ranks[static_cast<std::size_t>(rank)].waiting_in = "barrier \"start\"";
  }
  return test;
}

runner::TestRecord hostile() {
  const std::string nasty =
      "\x1b[31mred\x1b[0m \xff\xc0 ]]> <b>&\"' \x01 \xc2\x9b"
      "2J \xef\xbf\xbf \r\n\ttab";
  runner::TestRecord test = test_named("Evil", "test \x1b]0;title\x07 <&> \"q\" 'it'", Verdict::Fail, nasty);
  test.info.parameters = {{"glob", "*?\\"}, {"long", std::string(300, 'x')}};
  test.attempts.push_back(attempt_spoilt_by(2, 0, Verdict::Fail, {OutcomeKind::Failed, 0, ""}));
  runner::AttemptRecord& attempt = test.attempts.back();
  attempt.message = nasty;
  attempt.cause = {};  // nothing links the message to the culprit's action
  attempt.ranks[0].errors.push_back({nasty, nasty + "\n" + nasty, nasty, 1, nasty, true, -1, 1ms});
  attempt.ranks[0].out = captured(nasty + "\n" + std::string(2000, 'y') + "\n");
  attempt.ranks[0].notes.push_back({nasty, nasty});
  test.variant.world_size = 2;
  return test;
}

runner::TestRecord on_two_nodes(runner::TestRecord test) {
  for (runner::AttemptRecord& attempt : test.attempts) {
    const std::size_t half = attempt.ranks.size() / 2;
    for (std::size_t i = 0; i < attempt.ranks.size(); ++i) attempt.ranks[i].host = i < half ? "node01" : "node02";
    for (runner::HangCause& cause : attempt.hang) cause.hosts = hosts_of(attempt);
    for (runner::Snapshot& snapshot : attempt.snapshots) snapshot.hosts = hosts_of(attempt);
  }
  return test;
}

void add(runner::RunRecord& run, runner::TestRecord test) {
  ++run.totals[static_cast<std::size_t>(test.verdict)];
  run.tests.push_back(std::move(test));
}

runner::RunRecord run_of(runner::TestRecord test) {
  runner::RunRecord run = empty_run();
  add(run, std::move(test));
  return run;
}

runner::RunRecord full_run() {
  runner::RunRecord run = empty_run();
  for (auto make : {passing, failing, crashing, timing_out, deadlocked, skipped, leaking, flaky, failing_every_retry,
                    broken_machine, cancelled, wide, hostile}) {
    add(run, make());
  }
  run.problems.push_back({"build/plugins/torn.so", "list", "cannot load it:\nundefined symbol: f"});
  run.interrupted = true;
  return run;
}

runner::RunRecord run_with_hosts() {
  runner::RunRecord run = empty_run();
  runner::TestRecord test =
      test_named("Fleet", "sails", Verdict::Fail, "the suite's set-up failed: no water (fleet.cpp:7)");
  test.attempts.push_back(attempt_of(1, Verdict::Fail, {OutcomeKind::Failed, 0, ""}));
  runner::AttemptRecord& attempt = test.attempts.back();
  attempt.message = test.message;
  attempt.phase = wire::Phase::SetUp;
  attempt.culprits = {-1};
  attempt.ranks.resize(1);
  attempt.ranks[0].rank = -1;
  attempt.ranks[0].errors.clear();
  attempt.ranks[0].errors.push_back({"RuntimeError", "no water", "fleet.cpp", 7, "", true, -1, 1ms});
  attempt.ranks[0].out = captured("filling the dock\n");
  run.hosts.push_back({"fleet.so", "Fleet", Verdict::Fail, test.message, 3ms, 0ms, attempt.ranks[0]});
  add(run, std::move(test));
  add(run, passing());
  run.hosts.push_back({"ring.so", "Ring", Verdict::Pass, "", 3ms, 4ms, run.tests.back().attempts[0].ranks[0]});
  run.hosts.back().rank.rank = -1;
  return run;
}

void replay_test(const runner::TestRecord& test, runner::EventSink& sink) {
  const std::string id = test.info.id();
  sink.on_test_start({test.info, id, test.plugin, test.variant, 0, 1});
  for (const runner::AttemptRecord& attempt : test.attempts) {
    sink.on_attempt_start({id, attempt.n, attempt.kind, static_cast<int>(attempt.ranks.size())});
    for (const runner::RankRecord& rank : attempt.ranks) {
      sink.on_rank_start(id, attempt.n, rank);
      sink.on_rank_phase(id, attempt.n, rank.rank, rank.phase);
      for (const auto& error : rank.errors) sink.on_rank_error(id, attempt.n, rank.rank, error);
      sink.on_rank_end(id, attempt.n, rank);
    }
    sink.on_attempt_end(id, attempt);
  }
  sink.on_test_end(test);
}

void replay(const runner::RunRecord& run, runner::EventSink& sink) {
  sink.on_run_start(run, static_cast<int>(run.tests.size()));
  for (const runner::Problem& problem : run.problems) sink.on_problem(problem);
  for (const runner::TestRecord& test : run.tests) replay_test(test, sink);
  sink.on_run_end(run);
}

}  // namespace distrun::report::samples

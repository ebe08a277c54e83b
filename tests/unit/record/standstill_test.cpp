#include <catch2/catch.hpp>

#include <distrun/runner/record/describe.hpp>
#include <distrun/runner/record/judge.hpp>
#include <distrun/runner/record/standstill.hpp>

#include "samples.hpp"
#include "views.hpp"

using namespace distrun;
using namespace distrun::runner;
using namespace distrun::runner::views;
using board::WaitKind;
using enum OutcomeKind;

namespace {

// Returns an attempt of four ranks that timed out, with their states at that time.
AttemptRecord seen(std::vector<RankView> ranks,
                   const std::vector<OutcomeKind>& kinds = {TimedOut, TimedOut, TimedOut, TimedOut}) {
  AttemptRecord attempt = samples::attempt_of(kinds);
  Snapshot snapshot;
  snapshot.at_ns = kNow;
  snapshot.ranks = std::move(ranks);
  attempt.snapshots.push_back(std::move(snapshot));
  return attempt;
}

wire::ThreadStack& add_thread(AttemptRecord& attempt, int rank, int tid) {
  evidence::Process& process = attempt.snapshots.front().stacks.processes.emplace_back();
  process.rank = rank;
  wire::ThreadStack& thread = process.threads.emplace_back();
  thread.task.tid = tid;
  thread.task.cpu_ns = 1'000'000;
  return thread;
}

struct Told {
  std::vector<int> culprits;
  std::string message;

  friend bool operator==(const Told&, const Told&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Told& told) {
    for (const int rank : told.culprits) out << rank << ' ';
    return out << told.message;
  }
};

// The message is the one for hangs without a known cause.
Told told(AttemptRecord attempt) {
  conclude(attempt);
  attempt.hang.clear();
  return {attempt.culprits, describe_cause(attempt)};
}

const std::string kRanPast = " timed out after 5.0 s in the test body";
RankView in_all_reduce(int rank, std::vector<int> peers) {
  return in_wait(rank, WaitKind::Collective, "all_reduce of world", std::move(peers), 1);
}
RankView in_gather(int rank, int peer) { return in_wait(rank, WaitKind::Barrier, "rpc all_gather", {peer}); }

}  // namespace

TEST_CASE("a rank that does not join a collective is blamed, and the ranks in it are not") {
  const AttemptRecord attempt = seen({in_all_reduce(0, {1}), in_body(1), in_all_reduce(2, {1}), in_all_reduce(3, {1})});
  CHECK(told(attempt) ==
        Told{{1}, "rank 1" + kRanPast + "; ranks 0, 2-3 waited in collective \"all_reduce of world\" #1"});
}

TEST_CASE("a barrier and a collective with ranks that wait for each other form a cycle") {
  const AttemptRecord attempt =
      seen({in_all_reduce(0, {2}), in_all_reduce(1, {2}), in_barrier(2, "end"), in_all_reduce(3, {2})});
  CHECK(told(attempt) == Told{{2},
                              "ranks 0-3 wait for each other: ranks 0-1, 3 for rank 2 in collective \"all_reduce of "
                              "world\" #1, rank 2 for ranks 0-1, 3 in barrier \"end\""});
}

TEST_CASE("ranks that wait for a cycle are shown with the ranks they wait for") {
  const auto in_reduce = in_wait(0, WaitKind::Collective, "reduce of world", {1}, 1);
  const AttemptRecord attempt = seen({in_reduce, in_barrier(1, "end"), in_barrier(2, "end"), in_barrier(3, "end")});
  CHECK(told(attempt) == Told{{0, 1},
                              "ranks 0-1 wait for each other: rank 0 for rank 1 in collective \"reduce of world\" #1, "
                              "rank 1 for rank 0 in barrier \"end\"; ranks 2-3 waited for rank 0 in barrier \"end\""});
}

TEST_CASE("a wait that is common to all ranks of a cycle is shown once") {
  std::vector<RankView> ring;
  for (int rank = 0; rank < 4; ++rank) ring.push_back(in_wait(rank, WaitKind::Receive, "tok", {(rank + 1) % 4}));
  CHECK(told(seen(ring)) == Told{{0, 1, 2, 3},
                                 "ranks 0-3 wait for each other: rank 0 for rank 1, rank 1 for rank 2, rank 2 for rank "
                                 "3, rank 3 for rank 0, in receive \"tok\""});
}

TEST_CASE("a rank that runs a call for ever is blamed, though its body waits for the caller") {
  const AttemptRecord attempt = seen({in_wait(0, WaitKind::RpcReply, "f", {1}, 7),
                                      runs(in_gather(1, 0), "f", 7, 0, 9001), in_gather(2, 0), in_gather(3, 0)});
  CHECK(told(attempt) == Told{{1},
                              "rank 1" + kRanPast +
                                  ", running handler \"f\" #7 of rank 0; rank 0 waited in RPC reply \"f\" #7, ranks "
                                  "2-3 for rank 0 in barrier \"rpc all_gather\""});
}

TEST_CASE("calls are followed from rank to rank to the one that does not return") {
  const auto calls_on = [](int rank, int caller, int callee) {
    return waits(runs(in_gather(rank, 0), "ring", 2, caller, 9000 + rank), WaitKind::RpcReply, "ring", {callee}, 2,
                 9000 + rank);
  };
  SECTION("because it waits for a key that no rank sets") {
    const RankView last = waits(runs(in_gather(2, 0), "ring", 2, 1, 9002), WaitKind::StoreGet, "key", {}, 0, 9002);
    const AttemptRecord attempt =
        seen({in_wait(0, WaitKind::RpcReply, "ring", {1}, 2), calls_on(1, 0, 2), last, in_gather(3, 0)});
    CHECK_THAT(told(attempt).message,
               Catch::StartsWith("rank 2" + kRanPast +
                                 ", running handler \"ring\" #2 of rank 1, which waits in store get \"key\"; "));
  }
  SECTION("because it has stopped and runs nothing") {
    const AttemptRecord attempt =
        seen({in_wait(0, WaitKind::RpcReply, "ring", {1}, 2), calls_on(1, 0, 2), in_body(2), in_gather(3, 0)});
    CHECK(told(attempt).culprits == std::vector<int>{2});
  }
}

TEST_CASE("calls with handlers that wait for mutexes of the callers' bodies are a cycle") {
  const auto calls = [](int rank, int other) {
    return runs(in_wait(rank, WaitKind::RpcReply, "f", {other}, 1), "f", 1, other, 9000 + rank);
  };
  AttemptRecord attempt = seen({calls(0, 1), calls(1, 0), in_gather(2, 0), in_gather(3, 0)});
  for (const int rank : {0, 1}) {
    add_thread(attempt, rank, 9000 + rank).waits_for =
        "mutex 0x10 held by thread " + std::to_string(4700 + rank) + " (distrun-rank)";
  }
  CHECK(told(attempt) == Told{{0, 1},
                              "ranks 0-1 wait for each other: rank 0 for rank 1, rank 1 for rank 0, in RPC reply \"f\" "
                              "#1; ranks 2-3 waited for rank 0 in barrier \"rpc all_gather\""});
}

TEST_CASE("a rank that fetches a value waits for the call that creates it, for any caller") {
  const RankView maker = runs(in_gather(1, 0), "make", 1, 0, 9001);
  const AttemptRecord attempt =
      seen({in_gather(0, 2), maker, in_wait(2, WaitKind::RpcReply, "_rref_fetch", {1}, 2), in_gather(3, 0)});
  CHECK_THAT(told(attempt).message,
             Catch::StartsWith("rank 1" + kRanPast + ", running handler \"make\" #1 of rank 0; "));
}

TEST_CASE("threads of a rank that hold each other's mutexes are reported") {
  AttemptRecord attempt = seen({in_barrier(0, "x"), in_body(1), in_barrier(2, "x"), in_barrier(3, "x")});
  add_thread(attempt, 1, 4701).waits_for = "mutex 0x10 held by thread 9000 (back)";
  add_thread(attempt, 1, 9000).waits_for = "mutex 0x20 held by thread 4701 (front)";
  CHECK(told(attempt) ==
        Told{{1}, "rank 1" + kRanPast + ", its threads waiting for each other; ranks 0, 2-3 waited in barrier \"x\""});
}

TEST_CASE("a wait that is common to all culprits is shown once") {
  std::vector<RankView> all;
  for (int rank = 0; rank < 4; ++rank) all.push_back(in_wait(rank, WaitKind::StoreGet, "key"));
  CHECK(told(seen(all)) ==
        Told{{0, 1, 2, 3}, "rank 0" + kRanPast + "; so did ranks 1-3, all waiting in store get \"key\""});
}

TEST_CASE("a rank that waits for something that no known rank brings is blamed") {
  AttemptRecord attempt = seen(
      {in_barrier(0, "up"), in_barrier(1, "up"), in_barrier(2, "up"), in_wait(3, WaitKind::StoreGet, "address/of/7")});
  CHECK(told(attempt) ==
        Told{{3}, "rank 3" + kRanPast + ", waiting in store get \"address/of/7\"; ranks 0-2 waited in barrier \"up\""});
  attempt.snapshots.front().ranks[1] = in_body(1);  // which may be the one to write it
  CHECK(told(attempt).culprits == std::vector<int>{1});
}

TEST_CASE("a rank that holds a lock and waits for the ranks that wait for it is in a cycle") {
  const auto in_lock = [](int rank) { return in_wait(rank, WaitKind::Custom, "lock of process 4701: model"); };
  const AttemptRecord attempt = seen({in_lock(0), in_barrier(1, "end"), in_lock(2), in_lock(3)});
  CHECK(told(attempt) == Told{{0, 1, 2, 3},
                              "ranks 0-3 wait for each other: ranks 0, 2-3 for rank 1 in wait \"lock of process 4701: "
                              "model\", rank 1 for ranks 0, 2-3 in barrier \"end\""});
}

TEST_CASE("a body in a stream or call wait waits for the ranks that another thread of its rank waits for") {
  const WaitKind kind = GENERATE(WaitKind::Stream, WaitKind::Collective);
  const auto in_stream = [&](int rank, std::vector<int> peers) {
    return waits(in_wait(rank, kind, "cuda:0"), WaitKind::Collective, "all_reduce of world", std::move(peers), 1,
                 9000 + rank);
  };
  const AttemptRecord attempt = seen({in_stream(0, {2, 3}), in_stream(1, {2, 3}), in_body(2), in_stream(3, {2})});
  CHECK(told(attempt) ==
        Told{{2}, "rank 2" + kRanPast + "; ranks 0-1, 3 waited in " + board::name_of(kind) + " \"cuda:0\""});
}

TEST_CASE("ranks that hang independently are all blamed, and ranks that wait for them are not") {
  const AttemptRecord attempt = seen(
      {in_body(0), in_wait(1, WaitKind::Receive, "go", {0}), in_body(2), in_wait(3, WaitKind::Receive, "go", {2})});
  CHECK(told(attempt) == Told{{0, 2},
                              "rank 0" + kRanPast +
                                  "; so did rank 2; rank 1 waited for rank 0 in receive \"go\", rank "
                                  "3 for rank 2 in receive \"go\""});
}

TEST_CASE("a cycle beside a rank that hangs independently is blamed with it") {
  const AttemptRecord attempt = seen({in_body(0), in_wait(1, WaitKind::Receive, "a", {2}),
                                      in_wait(2, WaitKind::Receive, "a", {1}), in_barrier(3, "end")});
  CHECK(told(attempt) == Told{{0, 1, 2},
                              "rank 0" + kRanPast +
                                  "; so did ranks 1-2: rank 1 waiting in receive \"a\" for rank 2, rank 2 waiting in "
                                  "receive \"a\" for rank 1; rank 3 waited in barrier \"end\""});
}

TEST_CASE("a rank that finished while others waited for it has left early") {
  AttemptRecord attempt =
      seen({in_gather(0, 1), in_gather(2, 0), in_gather(3, 0)}, {TimedOut, Passed, TimedOut, TimedOut});
  conclude(attempt);
  CHECK(attempt.cause.kind == CauseKind::LeftEarly);
  CHECK(attempt.culprits == std::vector<int>{1});
  CHECK(attempt.message ==
        "missing rank (likely): rank 1 has ended; ranks 0, 2-3 wait for it (" + kRanPast.substr(1) + ")");
  CHECK(told(attempt).message == "rank 0" + kRanPast +
                                     ", waiting in barrier \"rpc all_gather\" for rank 1, which had passed; ranks 2-3 "
                                     "waited for rank 0 in barrier \"rpc all_gather\"");
}

TEST_CASE("a rank that still has time is blamed if others timed out waiting for it") {
  AttemptRecord attempt = seen({in_wait(0, WaitKind::Barrier, "x", {1}), in_body(1)}, {TimedOut, KilledByUs});
  attempt.ranks[1].phase = wire::Phase::SetUp;
  conclude(attempt);
  CHECK(attempt.cause.kind == CauseKind::Awaited);
  CHECK(attempt.culprits == std::vector<int>{1});
  CHECK(told(attempt).message == "rank 0" + kRanPast + ", waiting in barrier \"x\" for rank 1 in set-up");
}

TEST_CASE("the visible state of a rank without a recorded wait is reported") {
  AttemptRecord attempt = seen({in_barrier(0, "x"), in_body(1), in_barrier(2, "x"), in_barrier(3, "x")});
  wire::ThreadStack& thread = add_thread(attempt, 1, 4701);
  std::string what;
  SECTION("stopped") {
    thread.task.state = 'T';
    what = ", stopped (SIGSTOP)";
  }
  SECTION("spinning") {
    thread.motion = wire::Motion::Spinning;
    what = ", spinning";
  }
  SECTION("locked out by its own mutex") {
    thread.waits_for = "mutex 0x10 held by this thread itself";
    what = ", waiting for a mutex that it already holds";
  }
  CHECK(told(attempt) == Told{{1}, "rank 1" + kRanPast + what + "; ranks 0, 2-3 waited in barrier \"x\""});
}

TEST_CASE("a stopped rank is blamed, in any wait at the time it was stopped") {
  const RankView stopped = GENERATE(in_barrier(2, "after"), in_wait(2, WaitKind::Receive, "go", {1}),
                                    in_wait(2, WaitKind::RpcReply, "f", {1}, 7), in_wait(2, WaitKind::StoreGet, "key"));
  const std::string message = "rank 2" + kRanPast + ", stopped (SIGSTOP)";
  SECTION("and the others had passed") {
    AttemptRecord attempt = seen({stopped}, {Passed, Passed, TimedOut, Passed});
    add_thread(attempt, 2, 4702).task.state = 'T';
    CHECK(told(attempt) == Told{{2}, message});
  }
  SECTION("and the others wait for it elsewhere") {
    AttemptRecord attempt = seen({in_barrier(0, "last"), in_barrier(1, "last"), stopped, in_barrier(3, "last")});
    add_thread(attempt, 2, 4702).task.state = 'T';
    CHECK(told(attempt) == Told{{2}, message + "; ranks 0-1, 3 waited in barrier \"last\""});
  }
}

TEST_CASE("a stopped rank that shows the same wait as the others has missed the end of an earlier round") {
  std::vector<RankView> all;
  for (int rank = 0; rank < 4; ++rank) {
    all.push_back(in_all_reduce(rank, {(rank + 1) % 4, (rank + 2) % 4, (rank + 3) % 4}));
  }
  AttemptRecord attempt = seen(all);
  add_thread(attempt, 1, 4701).task.state = 'T';
  CHECK(told(attempt) == Told{{1},
                              "rank 1" + kRanPast +
                                  ", stopped (SIGSTOP); ranks 0, 2-3 waited in collective \"all_reduce of world\" #1"});
}

TEST_CASE("a call to a stopped rank is followed no further, whether or not it runs it") {
  const RankView callee = GENERATE(in_gather(1, 0), runs(in_gather(1, 0), "f", 7, 0, 9001));
  AttemptRecord attempt = seen({in_wait(0, WaitKind::RpcReply, "f", {1}, 7), callee, in_gather(2, 0), in_gather(3, 0)});
  add_thread(attempt, 1, 4701).task.state = 'T';
  CHECK(told(attempt) == Told{{1},
                              "rank 1" + kRanPast +
                                  ", stopped (SIGSTOP); rank 0 waited in RPC reply \"f\" #7, ranks 2-3 for rank 0 in "
                                  "barrier \"rpc all_gather\""});
}

TEST_CASE("a rank that waits for a key waits for a stopped rank too, in any wait of the stopped rank") {
  AttemptRecord attempt = seen({in_wait(0, WaitKind::StoreGet, "key"), in_barrier(1, "x"),
                                in_wait(2, WaitKind::StoreGet, "key"), in_wait(3, WaitKind::StoreGet, "key")});
  add_thread(attempt, 1, 4701).task.state = 'T';
  CHECK(told(attempt) ==
        Told{{1}, "rank 1" + kRanPast + ", stopped (SIGSTOP); ranks 0, 2-3 waited in store get \"key\""});
}

TEST_CASE("a rank that was stopped before it showed any state is blamed") {
  AttemptRecord attempt = seen({in_barrier(0, "x"), RankView{1, {}}, in_barrier(2, "x"), in_barrier(3, "x")});
  add_thread(attempt, 1, 4701).task.state = 'T';
  CHECK(told(attempt) == Told{{1}, "rank 1" + kRanPast + ", stopped (SIGSTOP); ranks 0, 2-3 waited in barrier \"x\""});
}

TEST_CASE("a rank that is stopped while it still has time is reported as stopped") {
  AttemptRecord attempt = seen({in_wait(0, WaitKind::Barrier, "x", {1}), in_body(1)}, {TimedOut, KilledByUs});
  attempt.ranks[1].phase = wire::Phase::SetUp;
  add_thread(attempt, 1, 4701).task.state = 'T';
  CHECK(told(attempt) ==
        Told{{1}, "rank 0" + kRanPast + ", waiting in barrier \"x\" for rank 1 in set-up, stopped (SIGSTOP)"});
}

TEST_CASE("stopped programs are blamed, as programs show no waits") {
  AttemptRecord attempt = seen({RankView{}, RankView{1, {}}, RankView{2, {}}, RankView{3, {}}});
  add_thread(attempt, 0, 4700).task.state = 'S';
  add_thread(attempt, 3, 4703).task.state = 'T';
  CHECK(told(attempt) == Told{{3}, "rank 3" + kRanPast + ", stopped (SIGSTOP)"});
}

TEST_CASE("a timeout names an unseen error, preferably of a culprit") {
  AttemptRecord attempt = seen({in_barrier(0, "x"), in_body(1), in_barrier(2, "x"), in_barrier(3, "x")});
  const std::string message = "rank 1" + kRanPast + "; ranks 0, 2-3 waited in barrier \"x\"; ";
  attempt.snapshots.front().ranks[0].shown->errors = {"future (a.cpp:1) failed: no"};
  CHECK(told(attempt) == Told{{1}, message + "rank 0: unseen error: future (a.cpp:1) failed: no"});
  attempt.snapshots.front().ranks[1].shown->errors = {"future (b.cpp:2) failed: oh"};
  CHECK(told(attempt) == Told{{1}, message + "rank 1: unseen error: future (b.cpp:2) failed: oh"});
}

TEST_CASE("a snapshot without board contents blames by what ranks have reported") {
  AttemptRecord attempt = seen({RankView{}, RankView{1, {}}, RankView{2, {}}, RankView{3, {}}});
  attempt.ranks[0].waiting_in = attempt.ranks[2].waiting_in = attempt.ranks[3].waiting_in = "barrier \"x\"";
  CHECK(told(attempt) == Told{{1}, "rank 1" + kRanPast + "; ranks 0, 2-3 waited in barrier \"x\""});
}

TEST_CASE("programs that wait for another's lock are not blamed, as the kernel knows the holder") {
  AttemptRecord attempt = seen({RankView{}, RankView{1, {}}, RankView{2, {}}, RankView{3, {}}});
  for (const int rank : {0, 1, 2, 3}) {
    wire::ThreadStack& thread = add_thread(attempt, rank, 4700 + rank);
    attempt.snapshots.front().stacks.processes.back().pid = 4700 + rank;
    thread.wait = {
        wire::WaitObject::FileLock, "lock of /tmp/x", "1:2:3", "fcntl(F_SETLKW)", {{4701, 0, ""}}, true, "", ""};
  }
  wire::ThreadStack& holder = attempt.snapshots.front().stacks.processes[1].threads.front();
  holder.wait = {};
  holder.task.syscall = "clock_nanosleep(0, 0, 0x7ffc)";
  CHECK(told(attempt) == Told{{1},
                              "rank 1" + kRanPast +
                                  ", sleeping in clock_nanosleep; ranks 0, 2-3 waited in fcntl(F_SETLKW) for lock of "
                                  "/tmp/x"});
  SECTION("in a cycle, all are blamed") {
    holder.wait = attempt.snapshots.front().stacks.processes[0].threads.front().wait;
    holder.wait.enders = {{4700, 0, ""}};
    CHECK_THAT(told(attempt).message, Catch::StartsWith("ranks 0-1 wait for each other, in fcntl(F_SETLKW) for lock") ||
                                          Catch::StartsWith("ranks 0-1 wait for each other: rank 0 for rank 1"));
  }
}

TEST_CASE("a rank that waits for a process outside the ranks is blamed, and the ranks that wait for it are not") {
  AttemptRecord attempt = seen({in_barrier(0, "x"), in_body(1), in_barrier(2, "x"), in_barrier(3, "x")});
  wire::ThreadStack& waiter = add_thread(attempt, 1, 4701);
  waiter.task.syscall = "wait4(815, 0x7ffc, 0, 0)";
  waiter.wait = {wire::WaitObject::Child, "child 815", "815", "wait4(815)", {{815, 0, ""}}, true, "", ""};
  add_thread(attempt, -1, 815).task.syscall = "clock_nanosleep(0, 0, 0x7ffc)";
  attempt.snapshots.front().stacks.processes.back().pid = 815;
  CHECK(told(attempt) ==
        Told{{1}, "rank 1" + kRanPast + ", waiting in wait4(815) for child 815; ranks 0, 2-3 waited in barrier \"x\""});
}

TEST_CASE("a thread of an unknown rank is not taken for one that a rank waits for, where ranks are threads") {
  AttemptRecord attempt = seen({in_barrier(0, "x"), in_body(1), in_barrier(2, "x"), in_barrier(3, "x")});
  for (const int rank : {1, 0, -1}) {
    if (rank >= 0) attempt.snapshots.front().ranks[static_cast<std::size_t>(rank)].shown->pid = 4700;
    wire::ThreadStack& thread = add_thread(attempt, rank, 4700 + rank);
    thread.task.syscall = "futex(0x10)";
    thread.frames = {0};
    attempt.snapshots.front().stacks.processes.back().pid = 4700;
    attempt.snapshots.front().stacks.processes.back().has_thread_ranks = true;
  }
  attempt.snapshots.front().stacks.table.emplace_back().function = "helper()";
  CHECK(told(attempt).culprits == std::vector<int>{1});
}

TEST_CASE("the causes of a hang are found if ranks timed out, and none otherwise") {
  AttemptRecord attempt = seen({in_barrier(0, "x"), in_body(1), in_barrier(2, "x"), in_barrier(3, "x")});
  conclude(attempt);
  const std::vector<HangCause> causes = hang_causes_of(attempt);
  REQUIRE(causes.size() == 1);
  CHECK(causes.front().kind == HangKind::MissingRank);
  CHECK(causes.front().ranks == attempt.culprits);
  for (RankRecord& rank : attempt.ranks) rank.outcome = samples::outcome_of(Passed);
  CHECK(hang_causes_of(attempt).empty());
}

TEST_CASE("a snapshot before the timeout proves a deadlock, unless threads have run since") {
  std::vector<RankView> views{in_wait(0, WaitKind::Receive, "a", {1}), in_wait(1, WaitKind::Receive, "a", {0})};
  for (RankView& view : views) view.shown->waits.back().rule = board::PeerRule::Any;
  AttemptRecord attempt = seen(std::move(views), {TimedOut, TimedOut});
  for (const int rank : {0, 1}) add_thread(attempt, rank, 4700 + rank);
  CHECK(hang_causes_of(attempt).front().certainty == Certainty::Likely);
  Snapshot before = attempt.snapshots.front();
  before.kind = SnapshotKind::Slow;
  attempt.snapshots.insert(attempt.snapshots.begin(), before);
  CHECK(hang_causes_of(attempt).front().is_deadlock());
  attempt.snapshots.back().stacks.processes.front().threads.front().task.cpu_ns += 1;
  CHECK_FALSE(hang_causes_of(attempt).front().is_deadlock());
}

// Ranks on two hosts. Their processes, threads and objects have the same numbers.
#include <algorithm>

#include <catch2/catch.hpp>

#include <distrun/runner/record/doctor/cause_text.hpp>
#include <distrun/runner/record/doctor/examination.hpp>
#include <distrun/runner/record/snapshot.hpp>

#include "tables.hpp"

using namespace distrun;
using namespace distrun::runner;
using namespace distrun::runner::tables;
using views::in_barrier;
using views::in_body;
using views::kSecond;

namespace {

constexpr int kPid = 4700;
constexpr int kWorker = 4801;

// Ranks 0 and 1 run on node01 and node02, each in the process 4700.
Snapshot on_two_hosts(std::vector<RankView> ranks) {
  for (RankView& view : ranks) {
    view.shown->pid = view.shown->body_tid = kPid;
    for (board::ShownWait& wait : view.shown->waits) wait.tid = kPid;
  }
  Snapshot snapshot = snapshot_of(std::move(ranks));
  snapshot.hosts = base::RankHosts({"node01", "node02"});
  return snapshot;
}

// Adds the process of a rank, with its main thread in a system call.
evidence::Process& add_process(Snapshot& snapshot, int rank, const std::string& call = "futex") {
  evidence::Process& process = snapshot.stacks.processes.emplace_back();
  process.rank = rank;
  process.host = rank + 1;
  process.pid = kPid;
  process.command = "program";
  wire::ThreadStack& thread = process.threads.emplace_back();
  thread.task.tid = kPid;
  thread.task.name = "program";
  thread.task.state = 'S';
  thread.task.cpu_ns = 1'000'000;
  thread.task.syscall = call + "(0x10)";
  return process;
}

wire::ThreadStack& add_worker(evidence::Process& process, const std::string& call = "futex") {
  wire::ThreadStack thread = process.threads.front();
  thread.wait = {};
  thread.task.tid = kWorker;
  thread.task.name = "worker";
  thread.task.syscall = call + "(0x10)";
  return process.threads.emplace_back(thread);
}

std::string briefly(const Snapshot& now, const Snapshot& earlier) {
  return brief(doctor::causes_of(doctor::graph_of(now, &earlier)));
}

}  // namespace

TEST_CASE("ranks of two hosts that wait for each other's messages are a proven deadlock, though their ids are equal") {
  Snapshot snapshot = on_two_hosts({in_receive(0, "a", {1}), in_receive(1, "b", {0})});
  add_process(snapshot, 0);
  add_process(snapshot, 1);
  const std::vector<HangCause> causes = causes_twice(snapshot);
  CHECK(brief(causes) == "deadlock proven 0 1");
  CHECK(verdict_text(causes.front()) == "deadlock (proven): ranks 0 on node01, 1 on node02 wait for each other");
  CHECK(chain_text(causes.front()) ==
        "rank 0 on node01 waits in receive \"a\" for rank 1 on node02, which waits in receive \"b\" for rank 0 on "
        "node01");
  CHECK_THAT(look_text(causes.front()), Catch::Contains("thread 4700 (program) of rank 0 on node01"));
}

TEST_CASE("the time of a wait on another host is not exact: a deadlock is proven though it differs a little") {
  Snapshot now = on_two_hosts({in_receive(0, "a", {1}), in_receive(1, "b", {0})});
  add_process(now, 0);
  add_process(now, 1);
  Snapshot earlier = now;
  SECTION("by the error of the clock") {
    now.ranks[1].shown->waits[0].since_ns += 900'000;
    CHECK(briefly(now, earlier) == "deadlock proven 0 1");
  }
  SECTION("by more: it is another wait") {
    now.ranks[1].shown->waits[0].since_ns += kSecond;
    CHECK(briefly(now, earlier) == "deadlock likely 0 1");
  }
  SECTION("it may seem to begin in the future") {
    now.ranks[0].shown->waits[0].since_ns = now.ranks[1].shown->waits[0].since_ns = views::kNow + 500'000;
    const auto causes = doctor::causes_of(doctor::graph_of(now, &now));
    CHECK(causes.front().lasted.count() == 0);
  }
}

TEST_CASE("ranks of two hosts prove nothing while the threads of one are not known") {
  Snapshot snapshot = on_two_hosts({in_receive(0, "a", {1}), in_receive(1, "b", {0})});
  add_process(snapshot, 0);
  SECTION("no process was seen there") {}
  SECTION("one of distrun's threads there may pass on a message") {
    evidence::Process& process = add_process(snapshot, 1);
    wire::ThreadStack& listener = add_worker(process, "epoll_wait");
    listener.task.name = "distrun-listen";
    listener.task.state = 'R';
    in_function(snapshot, listener, "distrun::rank::listen()", "/src/listen.cpp", 1);
  }
  CHECK(brief(causes_twice(snapshot)) == "deadlock likely 0 1");
}

TEST_CASE("locks with equal addresses on two hosts are two locks, each held by a thread of its own host") {
  Snapshot snapshot = on_two_hosts({in_body(0), in_body(1)});
  const auto wait_for = [](wire::ThreadStack& thread, int holder) {
    waits_for(thread, WaitObject::Mutex, "mutex 0x10", {{kPid, holder, ""}}, "futex");
  };
  SECTION("the holder runs on the host of its waiter, and waits itself on the other") {
    // As one machine, 4700 and 4801 would hold each other up.
    wait_for(add_process(snapshot, 0).threads[0], kWorker);
    add_worker(snapshot.stacks.processes[0], "clock_nanosleep");
    add_process(snapshot, 1, "clock_nanosleep");
    wait_for(add_worker(snapshot.stacks.processes[1]), kPid);
    const std::vector<HangCause> causes = causes_twice(snapshot);
    for (const HangCause& cause : causes) CHECK_FALSE(cause.is_deadlock());
    const doctor::Graph graph = doctor::graph_of(snapshot);
    REQUIRE(graph.threads.size() == 4);
    for (const doctor::Thread& thread : graph.threads) {
      if (!thread.wait) continue;
      REQUIRE(thread.wait->next.size() == 1);
      CHECK(graph.threads[thread.wait->next.front()].host == thread.host);
    }
    const auto is_lock = [](const doctor::Thing& thing) { return thing.kind == doctor::ThingKind::Mutex; };
    CHECK(std::count_if(graph.things.begin(), graph.things.end(), is_lock) == 2);
  }
  SECTION("both threads of one host hold what the other wants") {
    add_process(snapshot, 0, "clock_nanosleep");
    add_worker(snapshot.stacks.processes[0], "clock_nanosleep");
    wait_for(add_process(snapshot, 1).threads[0], kWorker);
    wait_for(add_worker(snapshot.stacks.processes[1]), kPid);
    const std::vector<HangCause> causes = causes_twice(snapshot);
    CHECK(brief(causes.front()) == "deadlock proven 1");
    CHECK(sentence_text(causes.front()) == "threads of rank 1 on node02 wait for each other");
    CHECK(causes.front().chain.front().host == "node02");
  }
}

TEST_CASE("a process of another host that has the id of the awaited one ends no wait") {
  Snapshot snapshot = on_two_hosts({in_body(0), in_body(1)});
  waits_for(add_process(snapshot, 0).threads[0], WaitObject::Pipe, "pipe 7", {{4999, 0, "4999 (cat)"}}, "read");
  add_process(snapshot, 1, "clock_nanosleep");
  evidence::Process& child = snapshot.stacks.processes.emplace_back(snapshot.stacks.processes.back());
  child.rank = -1;
  child.of_rank = 1;
  child.pid = 4999;
  child.threads.front().task.tid = 4999;
  const doctor::Graph graph = doctor::graph_of(snapshot);
  REQUIRE(graph.body_of(0)->wait);
  CHECK(graph.body_of(0)->wait->parties.empty());
  CHECK(graph.body_of(0)->wait->why_open == "a process that was not seen may end it");
  for (const HangCause& cause : causes_twice(snapshot)) CHECK_FALSE(cause.is_deadlock());
}

TEST_CASE("a lock that the board names by its holder's process is held on the same host") {
  std::vector<RankView> ranks = {views::in_wait(0, board::WaitKind::Custom, "lock of process 4700: model.bin"),
                                 in_body(1)};
  Snapshot snapshot = on_two_hosts(std::move(ranks));
  const board::ShownWait& wait = snapshot.ranks[0].shown->waits[0];
  CHECK(awaited(snapshot.ranks, 0, wait).empty());
  CHECK(awaited(snapshot.ranks, 0, wait, snapshot.hosts) == std::vector<int>{0});
  CHECK(awaited(snapshot.ranks, 1, wait, snapshot.hosts) == std::vector<int>{1});
}

TEST_CASE("a rank that could not be looked at is named with its host") {
  Snapshot snapshot = on_two_hosts({in_body(0), in_body(1)});
  add_process(snapshot, 0).why_none = "no permission";
  CHECK(doctor::examine(snapshot, nullptr).unseen == std::vector<std::string>{"process 4700 on node01: no permission"});
}

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdio>

#include "tables.hpp"

using namespace distrun;
using namespace distrun::runner;
using namespace distrun::runner::tables;
using board::WaitKind;
using doctor::Doing;
using doctor::Graph;
using doctor::ThingKind;
using views::in_barrier;
using views::in_body;
using views::in_wait;

namespace {

const doctor::Thread& body(const Graph& graph, int rank) {
  const doctor::Thread* const found = graph.body_of(rank);
  REQUIRE(found != nullptr);
  return *found;
}

std::vector<int> ranks_of_next(const Graph& graph, int rank) {
  std::vector<int> ranks;
  for (const std::size_t next : body(graph, rank).wait->next) ranks.push_back(graph.threads[next].rank);
  return ranks;
}

}  // namespace

TEST_CASE("a thread is one node, seen on the board and in the stacks") {
  const Graph graph = doctor::graph_of(with_stacks(snapshot_of({in_barrier(0, "x"), in_body(1)})));
  CHECK(graph.bodies.size() == 2);
  const doctor::Thread& thread = body(graph, 0);
  CHECK(thread.tid == 4700);
  CHECK(thread.name == "main");
  CHECK(thread.doing == Doing::Waits);
  CHECK(thread.wait->on_board);
  CHECK(graph.things[thread.wait->thing].name == "barrier \"x\"");
}

TEST_CASE("ranks that wait in the same barrier wait for one thing, and for the ranks that are absent") {
  const Graph graph = doctor::graph_of(snapshot_of({in_barrier(0, "x"), in_body(1), in_barrier(2, "x"), in_body(3)}));
  CHECK(body(graph, 0).wait->thing == body(graph, 2).wait->thing);
  CHECK(ranks_of_next(graph, 0) == std::vector<int>{1, 3});
  CHECK(body(graph, 0).wait->need == doctor::Need::All);
}

TEST_CASE("a wait on the board takes precedence over the mutex below it") {
  Snapshot snapshot = snapshot_of({in_barrier(0, "x"), in_body(1)});
  waits_for(main_thread(snapshot, 0, "futex"), WaitObject::ConditionVariable, "condition variable 0x10", {});
  const Graph graph = doctor::graph_of(snapshot);
  CHECK(graph.things[body(graph, 0).wait->thing].kind == ThingKind::Barrier);
}

TEST_CASE("an observed wait counts if the thread shows none") {
  Snapshot snapshot = snapshot_of({in_body(0), in_body(1)});
  waits_for(main_thread(snapshot, 0, "fcntl"), WaitObject::FileLock, "lock of /tmp/x", {{4701, 0, ""}});
  main_thread(snapshot, 1);
  const Graph graph = doctor::graph_of(snapshot);
  CHECK(graph.things[body(graph, 0).wait->thing].kind == ThingKind::FileLock);
  CHECK(ranks_of_next(graph, 0) == std::vector<int>{1});
  CHECK_FALSE(body(graph, 0).wait->open);
}

TEST_CASE("a wait is open if a timer, a deadline or a process that was not seen may end it") {
  Snapshot snapshot = snapshot_of({in_body(0), in_body(1)});
  wire::ThreadStack& thread = main_thread(snapshot, 0, "futex");
  waits_for(thread, WaitObject::Mutex, "mutex 0x10", {{4701, 0, ""}});
  SECTION("a timeout") { thread.wait.limit = "1.5 s"; }
  SECTION("something that the probe could not exclude") { thread.wait.closed = false; }
  SECTION("a foreign process") { thread.wait.enders.push_back({99, 0, ""}); }
  main_thread(snapshot, 1);
  const Graph graph = doctor::graph_of(snapshot);
  CHECK(body(graph, 0).wait->open);
  CHECK_FALSE(body(graph, 0).wait->why_open.empty());
}

TEST_CASE("a process that may end a wait does so by any of its threads") {
  Snapshot snapshot = snapshot_of({in_body(0)});
  waits_for(main_thread(snapshot, 0, "read"), WaitObject::Pipe, "pipe 7", {{815, 0, ""}});
  add_thread(snapshot, -1, 815, "futex", "a", 815);
  add_thread(snapshot, -1, 816, "", "b", 815).task.state = 'R';
  const Graph graph = doctor::graph_of(snapshot);
  REQUIRE(body(graph, 0).wait->parties.size() == 1);
  CHECK(graph.parties[body(graph, 0).wait->parties.front()].threads.size() == 2);
  CHECK(graph.threads[body(graph, 0).wait->next.front()].tid == 815);
}

TEST_CASE("what a thread does comes from its state, its motion and its call") {
  const auto doing_of = [](char state, wire::Motion motion, const std::string& call) {
    Snapshot snapshot = snapshot_of({in_body(0)});
    wire::ThreadStack& thread = main_thread(snapshot, 0, call);
    thread.task.state = static_cast<std::uint8_t>(state);
    thread.motion = motion;
    return body(doctor::graph_of(snapshot), 0).doing;
  };
  CHECK(doing_of('R', wire::Motion::Unknown, "") == Doing::Runs);
  CHECK(doing_of('R', wire::Motion::Spinning, "") == Doing::Spins);
  CHECK(doing_of('S', wire::Motion::Moving, "futex") == Doing::Runs);
  CHECK(doing_of('S', wire::Motion::Waiting, "clock_nanosleep") == Doing::Sleeps);
  CHECK(doing_of('S', wire::Motion::Waiting, "read") == Doing::Waits);
  CHECK(doing_of('T', wire::Motion::Waiting, "read") == Doing::Stopped);
  CHECK(doing_of('t', wire::Motion::Waiting, "read") == Doing::Traced);
  CHECK(doing_of('D', wire::Motion::Waiting, "") == Doing::InKernel);
  CHECK(doing_of('Z', wire::Motion::Unknown, "") == Doing::Ended);
  CHECK(doing_of('S', wire::Motion::Unknown, "") == Doing::Unknown);
}

TEST_CASE("a rank that is not in the snapshot has ended") {
  const Graph graph = doctor::graph_of(snapshot_of({in_wait(0, WaitKind::Receive, "go", {5})}));
  CHECK(graph.threads[body(graph, 0).wait->next.front()].doing == Doing::Ended);
  CHECK(graph.body_of(5) == nullptr);
}

TEST_CASE("ranks that are threads of one process have a body each") {
  Snapshot snapshot = snapshot_of({in_receive(0, "a", {1}), in_receive(1, "b", {0})});
  for (RankView& view : snapshot.ranks) {
    view.shown->pid = 4700;
    view.shown->body_tid = 5000 + view.rank;
    evidence::Process& process = snapshot.stacks.processes.emplace_back();
    process.rank = view.rank;
    process.pid = 4700;
    process.has_thread_ranks = true;
    process.threads.emplace_back().task.tid = 5000 + view.rank;
  }
  evidence::Process& rest = snapshot.stacks.processes.emplace_back();
  rest.pid = 4700;
  rest.has_thread_ranks = true;
  rest.threads.emplace_back().task.tid = 4700;
  const Graph graph = doctor::graph_of(snapshot);
  CHECK(graph.bodies.size() == 2);
  CHECK(graph.threads.size() == 3);
  CHECK(body(graph, 1).tid == 5001);
}

TEST_CASE("where ranks share a process, no rank is expected to do what any thread of the process can") {
  Snapshot snapshot = snapshot_of({in_body(0), in_body(1)});
  const int last = GENERATE(0, 1);  // the last rank with its body in process 4700
  for (RankView& view : snapshot.ranks) {
    view.shown->pid = view.rank <= last ? 4700 : 4701;
    view.shown->body_tid = 5000 + view.rank;
    evidence::Process& process = snapshot.stacks.processes.emplace_back();
    process.rank = view.rank;
    process.pid = view.shown->pid;
    process.has_thread_ranks = true;
    process.threads.emplace_back().task.tid = view.shown->body_tid;
  }
  wire::ThreadStack& reader = snapshot.stacks.processes[1].threads.front();
  reader.task.state = 'S';
  waits_for(reader, WaitObject::Pipe, "pipe 7", {{4700, 0, ""}});
  const Graph graph = doctor::graph_of(snapshot);
  CHECK(ranks_of_next(graph, 1) == (last == 0 ? std::vector<int>{0} : std::vector<int>{}));
  CHECK(graph.parties[body(graph, 1).wait->parties.front()].threads.size() == static_cast<std::size_t>(last) + 1);
}

TEST_CASE("ranks that claim the same process and thread still have a body each") {
  Snapshot snapshot = snapshot_of({in_barrier(0, "x"), in_body(1)});
  snapshot.ranks[1].shown->pid = snapshot.ranks[1].shown->body_tid = 4700;
  const Graph graph = doctor::graph_of(snapshot);
  CHECK(body(graph, 0).wait.has_value());
  CHECK_FALSE(body(graph, 1).wait.has_value());
}

TEST_CASE("a thread is unchanged if it is in the same wait in both snapshots") {
  Snapshot now = snapshot_of({in_body(0)});
  wire::ThreadStack& thread = main_thread(now, 0, "futex");
  waits_for(thread, WaitObject::Mutex, "mutex 0x10", {{4700, 4700, ""}});
  Snapshot earlier = now;
  CHECK(body(doctor::graph_of(now, &earlier), 0).unchanged);
  CHECK_FALSE(body(doctor::graph_of(now), 0).unchanged);
  SECTION("not if it ran in between") { thread.task.cpu_ns = 1; }
  SECTION("not if it waits for another mutex") { thread.wait.key = thread.wait.name = "mutex 0x20"; }
  SECTION("not if the thing is not known") {
    thread.wait.key.clear();
    earlier = now;
  }
  CHECK_FALSE(body(doctor::graph_of(now, &earlier), 0).unchanged);
}

// One of 64 ranks does not wait in the barrier; 15 further threads of each wait for a mutex.
TEST_CASE("a graph of 64 ranks with 16 threads each is explained", "[.bench]") {
  std::vector<int> others;
  for (int rank = 0; rank < 64; ++rank) others.push_back(rank);
  std::vector<RankView> views;
  for (int rank = 0; rank < 64; ++rank) {
    std::vector<int> peers = others;
    std::erase(peers, rank);
    views.push_back(rank == 7 ? in_body(rank) : in_wait(rank, WaitKind::Barrier, "x", peers));
  }
  Snapshot snapshot = with_stacks(snapshot_of(std::move(views)));
  for (int rank = 0; rank < 64; ++rank) {
    for (int i = 1; i < 16; ++i) {
      wire::ThreadStack& thread = add_thread(snapshot, rank, 10'000 + rank * 16 + i, "futex", "worker");
      waits_for(thread, WaitObject::Mutex, "mutex " + std::to_string(rank), {{4700 + rank, 4700 + rank, ""}});
      for (int depth = 0; depth < 8; ++depth) {
        in_function(snapshot, thread, "std::function" + std::to_string(depth) + "<int>::call()", "/usr/lib/f.hpp", 3);
      }
      in_function(snapshot, thread, "worker(int)", "/src/test.cpp", 7);
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto causes = doctor::causes_of(doctor::graph_of(snapshot, &snapshot));
  const auto took = std::chrono::steady_clock::now() - begin;
  std::printf("graph and causes in %lld us\n",
              static_cast<long long>(std::chrono::duration_cast<std::chrono::microseconds>(took).count()));
  CHECK(causes.front().ranks == std::vector<int>{7});
}

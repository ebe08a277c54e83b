#include <catch2/catch.hpp>

#include <distrun/runner/record/doctor/cause_text.hpp>

#include "tables.hpp"

using namespace distrun;
using namespace distrun::runner;
using namespace distrun::runner::tables;
using board::WaitKind;
using views::in_barrier;
using views::in_body;
using views::in_wait;

namespace {

using Lines = std::array<std::string, 3>;

RankView at_site(RankView view, const std::string& file, std::uint32_t line) {
  view.shown->waits.back().file = file;
  view.shown->waits.back().line = line;
  return view;
}

Lines text_of(const Snapshot& snapshot) { return cause_text(causes_twice(snapshot).front()); }

}  // namespace

TEST_CASE("the text for a held lock names the holder, its activity and its place") {
  Snapshot snapshot = snapshot_of({in_body(0), in_body(1)});
  in_function(snapshot, main_thread(snapshot, 0, "clock_nanosleep"), "train::step()", "/src/train.cpp", 88);
  waits_for(main_thread(snapshot, 1, "fcntl"), WaitObject::FileLock, "lock of /tmp/x", {{4700, 0, ""}},
            "fcntl(F_SETLKW)");
  CHECK(text_of(snapshot) ==
        Lines{"lock not released (likely): rank 0 sleeps in clock_nanosleep (train.cpp:88); rank 1 waits for it in "
              "fcntl(F_SETLKW) for lock of /tmp/x",
              "rank 1 waits in fcntl(F_SETLKW) for lock of /tmp/x, held by rank 0, which sleeps in clock_nanosleep "
              "(train.cpp:88)",
              "look at train.cpp:88 (train::step), thread 4700 (main) of rank 0"});
}

TEST_CASE("ranks that wait alike share a clause") {
  Snapshot snapshot =
      snapshot_of({at_site(in_barrier(0, "x"), "ring.cpp", 41), in_body(1), at_site(in_barrier(2, "x"), "ring.cpp", 41),
                   at_site(in_barrier(3, "x"), "ring.cpp", 41)});
  for (const int rank : {0, 2, 3}) main_thread(snapshot, rank, "futex");
  main_thread(snapshot, 1, "clock_nanosleep");
  CHECK(text_of(snapshot) ==
        Lines{"missing rank (likely): rank 1 sleeps in clock_nanosleep; ranks 0, 2-3 wait for it in barrier \"x\"",
              "ranks 0, 2-3 wait in barrier \"x\" (ring.cpp:41) for rank 1, which sleeps in clock_nanosleep",
              "look at thread 4701 (main) of rank 1; the wait has lasted 2.0 s"});
}

TEST_CASE("the text for a cycle goes round it once") {
  const Snapshot snapshot = with_stacks(
      snapshot_of({at_site(in_receive(0, "a", {1}), "ring.cpp", 3), at_site(in_receive(1, "b", {0}), "ring.cpp", 7)}));
  CHECK(text_of(snapshot) ==
        Lines{"deadlock (proven): ranks 0-1 wait for each other",
              "rank 0 waits in receive \"a\" (ring.cpp:3) for rank 1, which waits in receive \"b\" (ring.cpp:7) for "
              "rank 0",
              "look at ring.cpp:3, thread 4700 (main) of rank 0; the wait has lasted 2.0 s"});
}

TEST_CASE("in a cycle of barriers the odd rank comes first") {
  const Snapshot snapshot = with_stacks(
      snapshot_of({in_barrier(0, "here"), in_barrier(1, "there"), in_barrier(2, "here"), in_barrier(3, "here")}));
  CHECK(text_of(snapshot) ==
        Lines{"different collectives (proven): rank 1 waits in barrier \"there\", but ranks 0, 2-3 wait in barrier "
              "\"here\"",
              "rank 1 waits in barrier \"there\" for ranks 0, 2-3, which wait in barrier \"here\" for rank 1",
              "look at thread 4701 (main) of rank 1; the wait has lasted 2.0 s"});
}

TEST_CASE("a deadlock inside a rank names its threads") {
  Snapshot snapshot = snapshot_of({in_body(0)});
  waits_for(main_thread(snapshot, 0, "futex"), WaitObject::Mutex, "mutex 0x10", {{4700, 9001, ""}});
  waits_for(add_thread(snapshot, 0, 9001, "futex", "worker"), WaitObject::Mutex, "mutex 0x20", {{4700, 4700, ""}});
  CHECK(
      text_of(snapshot) ==
      Lines{"deadlock (proven): threads of rank 0 wait for each other",
            "rank 0 waits for mutex 0x10, held by thread 9001 (worker) of rank 0, which waits for mutex 0x20, held by "
            "rank 0",
            "look at thread 4700 (main) of rank 0"});
}

TEST_CASE("the text for a self-deadlock says that only the thread itself could end it") {
  Snapshot snapshot = snapshot_of({in_body(0)});
  waits_for(main_thread(snapshot, 0, "futex"), WaitObject::Mutex, "mutex 0x10", {{4700, 4700, ""}});
  CHECK(text_of(snapshot)[0] == "self-deadlock (proven): rank 0 waits for mutex 0x10, which only it can end");
}

TEST_CASE("the text for a child names the rank that waits for it") {
  Snapshot snapshot = snapshot_of({in_body(0)});
  waits_for(main_thread(snapshot, 0, "wait4"), WaitObject::Child, "child 815", {{815, 0, ""}}, "wait4(815)");
  add_thread(snapshot, -1, 815, "clock_nanosleep", "sleep", 815);
  CHECK(text_of(snapshot)[1] ==
        "rank 0 waits in wait4(815) for child 815: process 815 (program) sleeps in clock_nanosleep");
}

TEST_CASE("a process that a rank has started is its child") {
  Snapshot snapshot = snapshot_of({in_body(0)});
  waits_for(main_thread(snapshot, 0, "wait4"), WaitObject::Child, "child 815", {{815, 0, ""}}, "wait4(815)");
  add_thread(snapshot, -1, 815, "clock_nanosleep", "sleep", 815);
  process_of(snapshot, -1, 815).of_rank = 0;
  CHECK(text_of(snapshot)[0] ==
        "child that does not exit (likely): child 815 (program) of rank 0 sleeps in clock_nanosleep");
}

TEST_CASE("a deadlock inside a process that is no rank names the process once, and its threads") {
  Snapshot snapshot;
  waits_for(add_thread(snapshot, -1, 815, "futex", "pair", 815), WaitObject::Mutex, "mutex 0x10", {{815, 816, ""}});
  waits_for(add_thread(snapshot, -1, 816, "futex", "worker", 815), WaitObject::Mutex, "mutex 0x20", {{815, 815, ""}});
  CHECK(text_of(snapshot) ==
        Lines{"deadlock (proven): threads of process 815 (program) wait for each other",
              "process 815 (program) waits for mutex 0x10, held by its thread 816 (worker), which waits for mutex "
              "0x20, held by its main thread",
              "look at thread 815 (pair) of process 815"});
}

TEST_CASE("a deadlock of processes that are no ranks names them") {
  Snapshot snapshot;
  waits_for(add_thread(snapshot, -1, 815, "flock", "a", 815), WaitObject::FileLock, "lock of /tmp/x", {{816, 0, ""}},
            "flock(3)");
  waits_for(add_thread(snapshot, -1, 816, "flock", "b", 816), WaitObject::FileLock, "lock of /tmp/y", {{815, 0, ""}},
            "flock(4)");
  CHECK(text_of(snapshot) ==
        Lines{"deadlock (likely): processes 815 (program) and 816 (program) wait for each other",
              "process 815 (program) waits in flock(3) for lock of /tmp/x, held by process 816 (program), which waits "
              "in flock(4) for lock of /tmp/y, held by process 815 (program)",
              "look at thread 815 (a) of process 815"});
}

TEST_CASE("a deadlock of a rank and a process that it has started names both") {
  Snapshot snapshot = snapshot_of({in_body(0)});
  waits_for(main_thread(snapshot, 0, "wait4"), WaitObject::Child, "child 815", {{815, 0, ""}});
  waits_for(add_thread(snapshot, -1, 815, "read", "sh", 815), WaitObject::Pipe, "pipe 7", {{4700, 0, ""}});
  CHECK(text_of(snapshot)[0] == "deadlock (likely): rank 0 and process 815 (program) wait for each other");
}

TEST_CASE("the text for a lock that a thread outside of ranks holds names the thread that waits") {
  Snapshot snapshot;
  in_function(snapshot, add_thread(snapshot, -1, 815, "clock_nanosleep", "main", 815), "nap()", "/src/nap.cpp", 7);
  waits_for(add_thread(snapshot, -1, 816, "futex", "worker", 815), WaitObject::Mutex, "mutex 0x10", {{815, 815, ""}});
  CHECK(text_of(snapshot) ==
        Lines{"lock not released (likely): process 815 (program) sleeps in clock_nanosleep (nap.cpp:7); its thread 816 "
              "(worker) waits for it",
              "thread 816 (worker) of process 815 (program) waits for mutex 0x10, held by its main thread, which "
              "sleeps in clock_nanosleep (nap.cpp:7)",
              "look at nap.cpp:7 (nap), thread 815 (main) of process 815"});
}

TEST_CASE("an observation has no judgement: the chain of a cycle, else what the culprit does") {
  CHECK(observation_text(causes_twice(receive_cycle()).front()) ==
        "rank 0 waits in receive \"a\" for rank 1, which waits in receive \"b\" for rank 0");
  Snapshot snapshot = snapshot_of({in_body(0)});
  main_thread(snapshot, 0, "clock_nanosleep");
  CHECK(observation_text(causes_once(snapshot).front()) == "rank 0 sleeps in clock_nanosleep");
}

TEST_CASE("a chain goes through all that wait") {
  Snapshot snapshot = snapshot_of({in_receive(0, "go", {2}), in_body(1), in_body(2)});
  main_thread(snapshot, 0, "futex");
  waits_for(main_thread(snapshot, 1, "fcntl"), WaitObject::FileLock, "lock of /tmp/x", {{4700, 0, ""}});
  main_thread(snapshot, 2).task.state = 'T';
  const Lines lines = text_of(snapshot);
  CHECK(lines[0] == "stopped (likely): rank 2 is stopped (SIGSTOP); ranks 0-1 wait for it");
  CHECK(lines[1] ==
        "rank 1 waits for lock of /tmp/x, held by rank 0, which waits in receive \"go\" for rank 2, which is stopped "
        "(SIGSTOP)");
}

TEST_CASE("ranks that hang alike in no wait share a clause") {
  Snapshot snapshot = snapshot_of({in_body(0), in_body(1), in_body(2)});
  for (const int rank : {0, 1, 2}) main_thread(snapshot, rank, "clock_nanosleep");
  CHECK(text_of(snapshot)[0] == "slow (likely): ranks 0-2 sleep in clock_nanosleep");
  CHECK(text_of(snapshot)[1].empty());
}

TEST_CASE("an unknown cause says what was seen") {
  Snapshot snapshot = snapshot_of({in_body(0)});
  main_thread(snapshot, 0, "io_uring_enter");
  CHECK(text_of(snapshot)[0] == "unknown cause: rank 0 waits in io_uring_enter");
}

TEST_CASE("names from ranks stay one printable line") {
  const std::string nasty = "x\n\x1b[31m";
  Snapshot snapshot = snapshot_of({in_wait(0, WaitKind::Receive, nasty, {1}), in_body(1)});
  main_thread(snapshot, 0, "futex");
  main_thread(snapshot, 1, nasty).task.name = nasty;
  for (const std::string& line : text_of(snapshot)) {
    CHECK(line.find('\n') == std::string::npos);
    CHECK(line.find('\x1b') == std::string::npos);
  }
}

#include <catch2/catch.hpp>

#include <distrun/runner/record/doctor/examination.hpp>

#include "tables.hpp"

using namespace distrun;
using namespace distrun::runner;
using namespace distrun::runner::tables;
using doctor::Examination;
using doctor::examine;
using doctor::HangFinding;
using views::in_barrier;
using views::in_body;

namespace {

// The main thread of a process that is no rank.
wire::ThreadStack& process(Snapshot& snapshot, int pid, const std::string& call = "") {
  return add_thread(snapshot, -1, pid, call, "main", pid);
}

HangFinding finding_in(const Snapshot& snapshot) { return examine(snapshot, &snapshot, 1).finding; }

// Process 815 holds a mutex for which its thread 816 waits.
Snapshot held_mutex() {
  Snapshot snapshot;
  snapshot.stacks.times_are_later = true;
  process(snapshot, 815, "clock_nanosleep");
  waits_for(add_thread(snapshot, -1, 816, "futex", "worker", 815), WaitObject::Mutex, "mutex 0x10", {{815, 815, ""}});
  return snapshot;
}

wire::ThreadStack& thread_of(Snapshot& snapshot, std::size_t index) {
  return snapshot.stacks.processes.front().threads.at(index);
}

}  // namespace

TEST_CASE("a process that computes in one function does not hang") {
  Snapshot snapshot;
  process(snapshot, 815).motion = wire::Motion::Spinning;
  CHECK(finding_in(snapshot) == HangFinding::NoHang);
  CHECK(brief(examine(snapshot, &snapshot).causes) == "slow likely");
}

TEST_CASE("a process that waits for one that computes does not hang") {
  Snapshot snapshot;
  waits_for(process(snapshot, 815, "wait4"), WaitObject::Child, "child 816", {{816, 0, ""}});
  process(snapshot, 816).motion = wire::Motion::Moving;
  CHECK(finding_in(snapshot) == HangFinding::NoHang);
  snapshot.stacks.processes.back().threads.front().motion = wire::Motion::Spinning;
  CHECK(finding_in(snapshot) == HangFinding::NoHang);
}

TEST_CASE("a lock that a sleeping or computing thread holds meanwhile is a hang") {
  Snapshot snapshot = held_mutex();
  CHECK(finding_in(snapshot) == HangFinding::Hang);
  thread_of(snapshot, 0).motion = wire::Motion::Spinning;
  CHECK(brief(examine(snapshot, &snapshot).causes) == "held-lock likely");
}

TEST_CASE("a lock that changes hands between the snapshots is no hang") {
  const Snapshot earlier = held_mutex();
  Snapshot now = earlier;
  thread_of(now, 1).task.cpu_ns += 1;
  CHECK(examine(now, &earlier).finding == HangFinding::NoHang);
}

TEST_CASE("CPU time that a thread has used between the snapshots says nothing if the first snapshot may have cost it") {
  Snapshot earlier = held_mutex();
  earlier.stacks.times_are_later = false;
  Snapshot now = earlier;
  thread_of(now, 1).task.cpu_ns += 1;
  CHECK(examine(now, &earlier).finding == HangFinding::Hang);
}

TEST_CASE("threads that wait for each other's locks in turn are no hang") {
  Snapshot earlier;
  earlier.stacks.times_are_later = true;
  waits_for(process(earlier, 815, "futex"), WaitObject::Mutex, "mutex 0x10", {{815, 816, ""}});
  waits_for(add_thread(earlier, -1, 816, "futex", "worker", 815), WaitObject::Mutex, "mutex 0x20", {{815, 815, ""}});
  CHECK(examine(earlier, &earlier).finding == HangFinding::Hang);
  Snapshot now = earlier;
  thread_of(now, 1).task.cpu_ns += 1;
  CHECK(examine(now, &earlier).finding == HangFinding::NoHang);
}

TEST_CASE("a wait whose cause is not known is neither a hang nor none") {
  Snapshot snapshot;
  process(snapshot, 815, "io_uring_enter");
  CHECK(finding_in(snapshot) == HangFinding::Unknown);
}

TEST_CASE("a deadlock of threads that the main thread does not wait for is a hang") {
  Snapshot snapshot;
  process(snapshot, 815, "clock_nanosleep");
  waits_for(add_thread(snapshot, -1, 816, "futex", "a", 815), WaitObject::Mutex, "mutex 0x10", {{815, 817, ""}});
  waits_for(add_thread(snapshot, -1, 817, "futex", "b", 815), WaitObject::Mutex, "mutex 0x20", {{815, 816, ""}});
  const Examination examination = examine(snapshot, &snapshot);
  CHECK(examination.finding == HangFinding::Hang);
  CHECK(brief(examination.causes) == "deadlock proven; slow likely");
}

TEST_CASE("a process without stacks was not seen, unless it was started by one that was asked for") {
  Snapshot snapshot;
  evidence::Process& gone = process_of(snapshot, -1, 815);
  gone.why_none = "there is no such process";
  const Examination examination = examine(snapshot, &snapshot, 1);
  CHECK(examination.finding == HangFinding::Unseen);
  CHECK(examination.unseen == std::vector<std::string>{"process 815: there is no such process"});
  gone.index = 1;
  CHECK(examine(snapshot, &snapshot, 1).finding == HangFinding::NoHang);
}

TEST_CASE("ranks that wait for one that sleeps are a hang") {
  Snapshot snapshot = snapshot_of({in_barrier(0, "x"), in_body(1)});
  main_thread(snapshot, 0, "futex");
  main_thread(snapshot, 1, "clock_nanosleep");
  CHECK(finding_in(snapshot) == HangFinding::Hang);
}

TEST_CASE("of several findings a hang counts most, and then what was not seen") {
  CHECK(doctor::worst_of(HangFinding::Unseen, HangFinding::Hang) == HangFinding::Hang);
  CHECK(doctor::worst_of(HangFinding::Unseen, HangFinding::Unknown) == HangFinding::Unseen);
  CHECK(doctor::worst_of(HangFinding::NoHang, HangFinding::Unknown) == HangFinding::Unknown);
  CHECK(doctor::worst_of(HangFinding::NoHang, HangFinding::NoHang) == HangFinding::NoHang);
}

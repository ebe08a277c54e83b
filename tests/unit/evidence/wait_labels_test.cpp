#include <catch2/catch.hpp>

#include <distrun/runner/evidence/stacks/wait_labels.hpp>

#include "samples.hpp"

using namespace distrun;
using namespace distrun::evidence;
using wire::WaitObject;

namespace {

// Two ranks, the processes 100 and 200; the first thread of rank 0 is the one that waits.
Stacks two_ranks(const wire::ObservedWait& wait) {
  Stacks stacks;
  for (int rank = 0; rank < 2; ++rank) {
    const int pid = 100 * (rank + 1);
    samples::add_process(stacks, rank, pid, {{pid, "main", samples::in_futex()}, {pid + 1, "b", samples::in_futex()}});
  }
  stacks.processes[0].threads[0].wait = wait;
  return stacks;
}

std::string label_of(WaitObject object, const std::string& name, std::vector<wire::WaitEnder> enders,
                     const std::string& note = "") {
  const Stacks stacks = two_ranks({object, name, "", "", std::move(enders), false, "", note});
  return WaitLabels(stacks).label_of(stacks.processes[0], stacks.processes[0].threads[0]);
}

}  // namespace

TEST_CASE("the label of a wait names the object and its holder") {
  CHECK(label_of(WaitObject::Mutex, "mutex 0x10", {{100, 101, "thread 101 (b)"}}) ==
        "mutex 0x10 held by thread 101 (b)");
  CHECK(label_of(WaitObject::Mutex, "mutex 0x10", {{100, 101, ""}}) == "mutex 0x10 held by thread 101");
  CHECK(label_of(WaitObject::SharedMutex, "shared memory 3+0x10", {{200, 201, ""}}) ==
        "shared memory 3+0x10 held by thread 201 of rank 1");
  CHECK(label_of(WaitObject::FileLock, "lock of /tmp/x", {{200, 0, "200 (b)"}}) == "lock of /tmp/x held by rank 1");
  CHECK(label_of(WaitObject::FileLock, "lock of /tmp/x", {{900, 0, "900 (vi)"}}) == "lock of /tmp/x held by 900 (vi)");
  CHECK(label_of(WaitObject::FileLock, "lock of /tmp/x", {{200, 0, ""}, {7, 0, ""}, {8, 0, ""}, {9, 0, ""}}) ==
        "lock of /tmp/x held by rank 1, process 7, process 8 and 1 more");
  CHECK(label_of(WaitObject::ThreadEnd, "thread 101 (b)", {{100, 101, ""}}) == "the end of thread 101 (b)");
  CHECK(label_of(WaitObject::Child, "child 900 (sh)", {{900, 0, ""}}) == "the end of child 900 (sh)");
  CHECK(label_of(WaitObject::Pipe, "pipe 8812", {{200, 0, ""}}, "writing end held by 200 (b)") ==
        "pipe 8812, other end at rank 1");
  CHECK(label_of(WaitObject::Pipe, "pipe 8812", {{100, 0, ""}}, "writing end held by itself") ==
        "pipe 8812, other end in the same process");
  CHECK(label_of(WaitObject::Pipe, "pipe 8812", {{900, 0, ""}}, "writing end held by 900 (sh)") ==
        "pipe 8812, writing end held by 900 (sh)");
}

TEST_CASE("a wait without a known holder has a label only if more is known") {
  CHECK(label_of(WaitObject::Mutex, "mutex 0x10", {}, "its owner, thread 7, has exited") ==
        "mutex 0x10, its owner, thread 7, has exited");
  CHECK(label_of(WaitObject::Mutex, "mutex 0x10", {{100, 0, "100 (a)"}}).empty());  // any thread of the process
  CHECK(label_of(WaitObject::Barrier, "barrier 0x10", {{100, 0, ""}}, "1 of 3 threads have arrived") ==
        "barrier 0x10, 1 of 3 threads have arrived");
  CHECK(label_of(WaitObject::ConditionVariable, "condition variable 0x10", {{100, 0, ""}}).empty());
  CHECK(label_of(WaitObject::Unknown, "", {}, "not looked at: there was no time").empty());
}

TEST_CASE("the text of a mutex's holder, which older sources send, is the label and an edge") {
  Stacks stacks = two_ranks({});
  stacks.processes[0].threads[0].waits_for = "mutex 0x1 held by thread 101 (b)";
  stacks.processes[0].threads[1].waits_for = "mutex 0x2 held by thread 100 (main)";
  stacks.processes[1].threads[0].waits_for = "mutex 0x2 held by this thread itself";
  stacks.processes[1].threads[1].waits_for = "mutex 0x1 held by thread 100 (main)";
  const WaitLabels labels(stacks);
  CHECK(labels.label_of(stacks.processes[0], stacks.processes[0].threads[0]) == "mutex 0x1 held by thread 101 (b)");
  CHECK(labels.cycle_of(stacks.processes[0].threads[0]) == 100);
  CHECK(labels.cycle_of(stacks.processes[0].threads[1]) == 101);
  CHECK(labels.cycle_of(stacks.processes[1].threads[0]) == 200);
  CHECK(labels.cycle_of(stacks.processes[1].threads[1]) == 0);
}

TEST_CASE("ranks whose main threads wait for each other are in a cycle") {
  Stacks stacks = two_ranks({WaitObject::FileLock, "lock of /tmp/a", "", "", {{200, 0, ""}}, true, "", ""});
  stacks.processes[1].threads[0].wait = {WaitObject::FileLock, "lock of /tmp/b", "", "", {{100, 0, ""}}, true, "", ""};
  const WaitLabels labels(stacks);
  CHECK(labels.cycle_of(stacks.processes[0].threads[0]) != 0);
  CHECK(labels.cycle_of(stacks.processes[1].threads[0]) != 0);
}

TEST_CASE("a wait that several threads can end is part of no cycle") {
  Stacks stacks = two_ranks({WaitObject::Pipe, "pipe 8", "", "", {{200, 0, ""}, {900, 0, ""}}, true, "", ""});
  stacks.processes[1].threads[0].wait = {WaitObject::Pipe, "pipe 9", "", "", {{100, 0, ""}}, true, "", ""};
  CHECK(WaitLabels(stacks).cycle_of(stacks.processes[1].threads[0]) == 0);
}

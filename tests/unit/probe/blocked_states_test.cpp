#include <catch2/catch.hpp>

#include <algorithm>

#include <distrun/runner/evidence/proc/task_state.hpp>

#include "in_state.hpp"
#include "support/probe_client.hpp"
#include "support/process.hpp"

using namespace distrun;
using namespace distrun::testing;
using wire::WaitObject;

namespace {

constexpr milliseconds kBlockedLimit{5'000};

struct BlockedRow {
  const char* state;
  wire::WaitObject object;
  const char* name;             // its beginning
  const char* call = "futex(";  // its beginning
  const char* ender = "";       // part of the name of the only one; "": the process or none
  bool closed = true;
  const char* note = "";  // part of it
};

// clang-format off
const BlockedRow kBlockedRows[] = {
    {.state = "blocked_by_mutex", .object = WaitObject::Mutex, .name = "mutex 0x", .ender = "(holder)"},
    {.state = "self_lock", .object = WaitObject::Mutex, .name = "mutex 0x", .ender = "(fixture_states)",
     .note = "this thread itself holds it"},
    {.state = "self_lock_with_timer", .object = WaitObject::Mutex, .name = "mutex 0x", .ender = "(fixture_states)",
     .closed = false},
    {.state = "blocked_by_exited_owner", .object = WaitObject::Mutex, .name = "mutex 0x", .note = "has exited"},
    {.state = "blocked_after_fork", .object = WaitObject::Mutex, .name = "mutex 0x",
     .note = "held by a thread that did not survive fork()"},
    {.state = "blocked_by_writer", .object = WaitObject::ReadWriteLock, .name = "read-write lock 0x",
     .ender = "(holder)"},
    {.state = "blocked_by_other_writer", .object = WaitObject::ReadWriteLock, .name = "read-write lock 0x",
     .ender = "(holder)"},
    {.state = "blocked_by_reader", .object = WaitObject::ReadWriteLock, .name = "read-write lock 0x",
     .note = "held by 1 reader"},
    {.state = "blocked_by_condition", .object = WaitObject::ConditionVariable, .name = "condition variable 0x"},
    {.state = "blocked_by_timed_condition", .object = WaitObject::ConditionVariable, .name = "condition variable 0x",
     .closed = false},
    {.state = "blocked_by_semaphore", .object = WaitObject::Semaphore, .name = "semaphore 0x"},
    {.state = "blocked_by_counting_semaphore", .object = WaitObject::Semaphore, .name = "std::counting_semaphore"},
    {.state = "blocked_by_future", .object = WaitObject::Future, .name = "std::future"},
    {.state = "blocked_by_shared_future", .object = WaitObject::Future, .name = "std::"},
    {.state = "blocked_by_async", .object = WaitObject::ThreadEnd, .name = "thread ", .ender = "(holder)"},
    {.state = "blocked_by_latch", .object = WaitObject::Latch, .name = "std::latch"},
    {.state = "blocked_by_barrier", .object = WaitObject::Barrier, .name = "std::barrier"},
    {.state = "blocked_by_posix_barrier", .object = WaitObject::Barrier, .name = "barrier 0x",
     .note = "1 of 3 threads have arrived"},
    {.state = "blocked_by_atomic", .object = WaitObject::AtomicWait, .name = "std::atomic"},
    {.state = "blocked_by_join", .object = WaitObject::ThreadEnd, .name = "thread ", .ender = "(holder)"},
    {.state = "blocked_by_call_once", .object = WaitObject::StaticGuard, .name = "std::call_once",
     .ender = "(holder)"},
    {.state = "blocked_by_static", .object = WaitObject::StaticGuard, .name = "the initialisation of a static variable",
     .ender = "(holder)"},
    {.state = "blocked_by_loader", .object = WaitObject::LoaderLock, .name = "the lock of the loader",
     .ender = "(holder)"},
    {.state = "blocked_by_list_of_modules", .object = WaitObject::LoaderLock, .name = "the lock of the loader",
     .ender = "(holder)"},
    {.state = "malloc_lock", .object = WaitObject::HeapLock, .name = "the lock of malloc()",
     .ender = "(fixture_states)"},
    {.state = "blocked_by_file", .object = WaitObject::Mutex, .name = "a lock inside puts()"},
    {.state = "blocked_by_shared_mutex", .object = WaitObject::SharedMutex, .name = "shared memory ",
     .ender = "(fixture_states)"},
    {.state = "blocked_by_pipe", .object = WaitObject::Pipe, .name = "pipe ", .call = "read(",
     .ender = "(fixture_states)", .note = "writing end held by "},
    {.state = "blocked_by_child", .object = WaitObject::Child, .name = "child ", .call = "wait4(",
     .ender = "(fixture_states)"},
    {.state = "blocked_by_file_lock", .object = WaitObject::FileLock, .name = "lock of ", .call = "fcntl(",
     .ender = "(fixture_states)"},
    {.state = "sleeping", .object = WaitObject::Signal, .name = "", .call = "pause", .closed = false},
};
// clang-format on

bool is_blocked_in(pid_t pid, const std::string& call) {
  return eventually(kBlockedLimit, [&] {
    const wire::TaskState task = evidence::read_task(pid, pid);
    return task.state == 'S' && task.syscall.starts_with(call);
  });
}

std::string wait_as_text(const wire::ObservedWait& wait) {
  std::string text = std::to_string(static_cast<int>(wait.object)) + " " + wait.name + " [" + wait.key + "] in " +
                     wait.call + (wait.closed ? " closed" : " open") + " limit=" + wait.limit + " note=" + wait.note;
  for (const wire::WaitEnder& ender : wait.enders) {
    text += "\n  by " + std::to_string(ender.pid) + "/" + std::to_string(ender.tid) + " " + ender.name;
  }
  return text;
}

}  // namespace

TEST_CASE("a blocked thread has the object that it waits for, and the thread or process that can end the wait") {
  const BlockedRow& row =
      kBlockedRows[static_cast<std::size_t>(GENERATE(range(0, static_cast<int>(std::size(kBlockedRows)))))];
  const InState subject(row.state);
  REQUIRE(is_blocked_in(subject.pid(), row.call));
  wire::ProbeOrder order;
  order.pids = {subject.pid()};
  const ProbeReply reply = ask_probe(order, kBlockedLimit);
  REQUIRE(reply.done);
  const wire::ObservedWait& wait = reply.processes.at(0).threads.front().wait;
  INFO(row.state << ": " << wait_as_text(wait) << "\n" << reply.text());
  CHECK(wait.object == row.object);
  CHECK(wait.name.starts_with(row.name));
  CHECK(wait.call.starts_with(row.call));
  CHECK(wait.closed == row.closed);
  CHECK(wait.note.find(row.note) != std::string::npos);
  const std::string ender = row.ender;
  const bool is_it = wait.enders.size() == 1 && wait.enders[0].name.find(ender) != std::string::npos;
  CHECK((ender.empty() || is_it));
}

TEST_CASE("the processes that a process has started are looked at when they are ordered") {
  const InState subject("sleeping", fixtures::Build::Plain,
                        {"/bin/sh", "-c", "sleep 1000 & sleep 1000 & exec \"$0\" \"$1\""});
  REQUIRE(is_blocked_in(subject.pid(), "pause"));
  wire::ProbeOrder order;
  order.pids = {subject.pid()};
  order.descendants = GENERATE(0, 1, 64);
  const ProbeReply reply = ask_probe(order, kBlockedLimit);
  INFO(reply.text());
  REQUIRE(reply.done);
  const int seen = std::min(order.descendants, 2);
  CHECK(reply.processes.size() == static_cast<std::size_t>(seen) + 1);
  CHECK(reply.done->descendants_left == (order.descendants == 1 ? 1 : 0));
  CHECK(reply.processes.at(0).descendant_of == -1);
  for (int i = 1; i <= seen; ++i) {
    const wire::ProcessStacks& child = reply.processes.at(i);
    CHECK(child.descendant_of == 0);
    CHECK(child.command == "sleep 1000");
    CHECK(child.threads.front().wait.object == WaitObject::Timer);
    CHECK_FALSE(child.threads.front().frames.empty());
  }
}

// Waits that any thread of the same process may end: the kernel knows no owner of a condition variable, of a lock held
// by readers, or of a pipe between threads.
#include <catch2/catch.hpp>

#include "tables.hpp"

using namespace distrun;
using namespace distrun::runner;
using namespace distrun::runner::tables;
using views::in_body;

namespace {

// Rank 0's main thread waits for something that its own process can end.
Snapshot with_wait(WaitObject object, const std::string& call) {
  Snapshot snapshot = snapshot_of({in_body(0)});
  wire::ThreadStack& thread = main_thread(snapshot, 0, call);
  in_function(snapshot, thread, "body", "body.cpp", 1);
  waits_for(thread, object, "thing", {{4700, 0, ""}}, call);
  return snapshot;
}

wire::ThreadStack& add_user_thread(Snapshot& snapshot, int tid, const std::string& call) {
  wire::ThreadStack& thread = add_thread(snapshot, 0, tid, call, "worker");
  in_function(snapshot, thread, "work", "work.cpp", 2);
  return thread;
}

}  // namespace

TEST_CASE("a thread is not expected to wake itself: without another one the notification is lost") {
  for (const WaitObject object :
       {WaitObject::ConditionVariable, WaitObject::Semaphore, WaitObject::Latch, WaitObject::Future}) {
    CHECK(brief(causes_twice(with_wait(object, "futex"))) == "lost-notification proven 0");
  }
}

TEST_CASE("a thread that is alone in its process waits for itself in a lock or channel that the process holds") {
  CHECK(brief(causes_twice(with_wait(WaitObject::Pipe, "read"))) == "self-deadlock proven 0");
  CHECK(brief(causes_twice(with_wait(WaitObject::FileLock, "flock"))) == "self-deadlock proven 0");
}

TEST_CASE("of the threads that may end a wait, those that wait themselves are not expected to") {
  Snapshot snapshot = with_wait(WaitObject::ConditionVariable, "futex");
  waits_for(add_user_thread(snapshot, 9001, "futex"), WaitObject::ConditionVariable, "other", {{4700, 0, ""}});
  SECTION("another one sleeps") {
    add_user_thread(snapshot, 9002, "clock_nanosleep");
    const auto causes = causes_twice(snapshot);
    CHECK(brief(causes) == "slow likely 0");
    CHECK(causes.front().tid == 9002);
  }
  SECTION("all wait") { CHECK(brief(causes_twice(snapshot)) == "lost-notification proven 0"); }
}

TEST_CASE("the other end of a pipe within the process is a thread that does not wait") {
  Snapshot snapshot = with_wait(WaitObject::Pipe, "read");
  add_user_thread(snapshot, 9001, "clock_nanosleep");
  const auto causes = causes_twice(snapshot);
  CHECK(brief(causes) == "full-or-empty-channel likely 0");
  CHECK(causes.front().tid == 9001);
}

TEST_CASE("a thread without user code is not expected to end a wait, but keeps it from being proven") {
  Snapshot snapshot = with_wait(WaitObject::ConditionVariable, "futex");
  add_thread(snapshot, 0, 9001, "epoll_wait", "distrun-io");
  CHECK(brief(causes_twice(snapshot)) == "lost-notification likely 0");
}

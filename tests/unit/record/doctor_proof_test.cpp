// When a deadlock is proven, and when it must not be.
#include <catch2/catch.hpp>

#include "tables.hpp"

using namespace distrun;
using namespace distrun::runner;
using namespace distrun::runner::tables;
using views::in_body;
using views::kSecond;

TEST_CASE("ranks that wait for each other's messages are a deadlock, proven by a second snapshot") {
  const Snapshot snapshot = receive_cycle();
  CHECK(brief(causes_twice(snapshot)) == "deadlock proven 0 1");
  CHECK(brief(causes_once(snapshot)) == "deadlock likely 0 1");
}

TEST_CASE("a deadlock is not proven if anything could end one of its waits") {
  Snapshot now = receive_cycle();
  Snapshot earlier = now;
  SECTION("a deadline") {
    now.ranks[0].shown->waits[0].deadline_ns = views::kNow + kSecond;
    earlier = now;
  }
  SECTION("it began between the snapshots") { now.ranks[1].shown->waits[0].since_ns += 1; }
  SECTION("the rank did something between the snapshots") { now.ranks[0].shown->epoch = 7; }
  SECTION("another thread of the rank runs") {
    add_thread(now, 1, 9001).task.state = 'R';
    earlier = now;
  }
  SECTION("another thread of the rank sleeps") {
    add_thread(now, 1, 9001, "clock_nanosleep");
    earlier = now;
  }
  SECTION("the threads of a rank are not known") {
    now.stacks.processes.pop_back();
    earlier = now;
  }
  SECTION("more was seen than is kept") {
    now.stacks.cut = true;
    earlier = now;
  }
  SECTION("the process of a rank is stopped") {
    now.stacks.processes[1].threads[0].task.state = 'T';
    earlier = now;
  }
  const auto causes = doctor::causes_of(doctor::graph_of(now, &earlier));
  REQUIRE_FALSE(causes.empty());
  CHECK(causes.front().certainty != Certainty::Proven);
  CHECK_FALSE(causes.front().is_deadlock());
}

TEST_CASE("a deadlock of threads in the background ends no test, even if its body might wait for them") {
  Snapshot snapshot = snapshot_of({in_body(0), in_body(1)});
  main_thread(snapshot, 1, "clock_nanosleep");
  SECTION("the body was running when the others were seen") { main_thread(snapshot, 0).task.state = 'R'; }
  SECTION("the body was not seen") {}
  SECTION("the body sleeps for an unknown reason") { main_thread(snapshot, 0); }
  SECTION("the body waits for something, perhaps for them") { main_thread(snapshot, 0, "futex"); }
  waits_for(add_thread(snapshot, 0, 9001, "futex", "a"), WaitObject::Mutex, "mutex 0x10", {{4700, 9002, ""}});
  waits_for(add_thread(snapshot, 0, 9002, "futex", "b"), WaitObject::Mutex, "mutex 0x20", {{4700, 9001, ""}});
  for (int i = 1; i <= 2; ++i) {
    wire::ThreadStack& thread = process_of(snapshot, 0).threads.at(process_of(snapshot, 0).threads.size() - i);
    in_function(snapshot, thread, "lock_in_background", "alike.cpp", 250);
  }
  for (const HangCause& cause : causes_twice(snapshot)) CHECK_FALSE(cause.is_deadlock());
}

TEST_CASE("ranks that wait for messages prove nothing while one of distrun's threads may pass on a message") {
  Snapshot snapshot = receive_cycle();
  CHECK(brief(causes_twice(snapshot)) == "deadlock proven 0 1");
  SECTION("the rank itself has been woken and waits for a CPU") {
    snapshot.stacks.processes.front().threads.front().task.state = 'R';
    CHECK(brief(causes_twice(snapshot)) == "deadlock likely 0 1");
  }
  SECTION("its listener has") {
    wire::ThreadStack& listener = add_thread(snapshot, 0, 9001, "epoll_wait", "distrun-listen");
    in_function(snapshot, listener, "distrun::rank::listen()", "/src/listen.cpp", 1);
    CHECK(brief(causes_twice(snapshot)) == "deadlock proven 0 1");
    snapshot.stacks.processes.front().threads.back().task.state = 'R';
    CHECK(brief(causes_twice(snapshot)) == "deadlock likely 0 1");
  }
}

TEST_CASE("ranks that wait for messages prove nothing if one may be in flight, but threads that wait for locks do") {
  Snapshot earlier = receive_cycle();
  Snapshot now = earlier;
  now.has_news_in_flight = true;
  CHECK(brief(doctor::causes_of(doctor::graph_of(now, &earlier))) == "deadlock likely 0 1");
  Snapshot locks = snapshot_of({in_body(0)});
  waits_for(main_thread(locks, 0, "futex"), WaitObject::Mutex, "mutex 0x10", {{4700, 4700, ""}});
  locks.has_news_in_flight = true;
  CHECK(brief(causes_twice(locks)) == "self-deadlock proven 0");
}

TEST_CASE("stacks that may be older than their request prove nothing: looks at several hosts may have overlapped") {
  Snapshot earlier = receive_cycle();
  Snapshot now = earlier;
  now.stacks.may_be_older = true;
  CHECK(brief(doctor::causes_of(doctor::graph_of(now, &earlier))) == "deadlock likely 0 1");
  earlier.stacks.may_be_older = true;  // its CPU times were read again
  now.stacks.may_be_older = false;
  CHECK(brief(doctor::causes_of(doctor::graph_of(now, &earlier))) == "deadlock proven 0 1");
}

TEST_CASE("a thread whose CPU time is not known may have done anything") {
  Snapshot snapshot = snapshot_of({views::in_body(0)});
  wire::ThreadStack& thread = main_thread(snapshot, 0, "futex");
  waits_for(thread, WaitObject::Mutex, "mutex 0x10", {{4700, 4700, ""}});
  CHECK(brief(causes_twice(snapshot)) == "self-deadlock proven 0");
  thread.task.cpu_ns = 0;
  CHECK(brief(causes_twice(snapshot)) == "self-deadlock likely 0");
}

TEST_CASE("no cycle through a process that is no rank is proven, since an alarm may end it") {
  Snapshot snapshot = snapshot_of({views::in_body(0)});
  waits_for(main_thread(snapshot, 0, "flock"), WaitObject::FileLock, "lock of /tmp/x", {{815, 0, ""}});
  waits_for(add_thread(snapshot, -1, 815, "flock", "child", 815), WaitObject::FileLock, "lock of /tmp/y",
            {{4700, 0, ""}});
  CHECK(brief(causes_twice(snapshot)) == "deadlock likely 0");
}

TEST_CASE("distrun's own threads do not keep a deadlock from being proven") {
  Snapshot snapshot = receive_cycle();
  wire::ThreadStack& thread = add_thread(snapshot, 1, 9001, "epoll_wait", "distrun-listen");
  in_function(snapshot, thread, "distrun::rank::listen()", "/src/listen.cpp", 1);
  CHECK(brief(causes_twice(snapshot)) == "deadlock proven 0 1");
  SECTION("but a thread of the user may have inherited the name") {
    in_function(snapshot, thread, "helper()", "/src/test.cpp", 7);
    CHECK(brief(causes_twice(snapshot)) == "deadlock likely 0 1");
  }
}

TEST_CASE("a receive from any of two ranks is stuck only if both are") {
  Snapshot snapshot = snapshot_of({in_receive(0, "a", {1, 2}), in_receive(1, "b", {0}), in_body(2)});
  SECTION("one of them runs") { CHECK_FALSE(causes_twice(with_stacks(snapshot)).front().is_deadlock()); }
  SECTION("both wait") {
    snapshot.ranks[2] = in_receive(2, "b", {0});
    CHECK(brief(causes_twice(with_stacks(snapshot))) == "deadlock proven 0 1 2");
  }
}

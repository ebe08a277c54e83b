#include <catch2/catch.hpp>

#include <memory>
#include <optional>

#include "../support/loop.hpp"

using namespace distrun;
using namespace distrun::testing;
using namespace std::chrono_literals;
using io::Alarm;
using io::Loop;

namespace {

base::TimePoint in(base::Nanoseconds time) { return std::chrono::steady_clock::now() + time; }
base::TimePoint long_ago() { return in(-1h); }

}  // namespace

TEST_CASE("an alarm calls its handler once, and not before its time") {
  Loop loop;
  int calls = 0;
  base::TimePoint called;
  Alarm alarm(loop, [&] {
    ++calls;
    called = std::chrono::steady_clock::now();
  });
  const base::TimePoint when = in(20ms);
  alarm.set(when);
  CHECK(run_until(loop, [&] { return calls > 0; }));
  run_ready(loop);
  CHECK(calls == 1);
  CHECK(called >= when);
}

TEST_CASE("an alarm in the past calls its handler on the loop, not within set") {
  Loop loop;
  bool called = false;
  Alarm alarm(loop, [&] { called = true; });
  alarm.set(long_ago());
  CHECK_FALSE(called);
  CHECK(run_until(loop, [&] { return called; }));
}

TEST_CASE("an alarm in the longest time does not call its handler, and can be moved") {
  Loop loop;
  bool called = false;
  Alarm alarm(loop, [&] { called = true; });
  alarm.set_after(base::Nanoseconds::max());
  loop.context().poll();
  CHECK_FALSE(called);
  alarm.set_after(base::Nanoseconds(1));
  CHECK(run_until(loop, [&] { return called; }));
}

TEST_CASE("an alarm that is moved calls its handler at the last time only") {
  Loop loop;
  int calls = 0;
  Alarm alarm(loop, [&] { ++calls; });
  SECTION("to an earlier time") {
    alarm.set(in(1h));
    alarm.set(long_ago());
    CHECK(run_until(loop, [&] { return calls > 0; }));
  }
  SECTION("to a later time") {
    alarm.set(long_ago());
    const base::TimePoint later = in(30ms);
    alarm.set(later);
    CHECK(run_until(loop, [&] { return calls > 0; }));
    CHECK(std::chrono::steady_clock::now() >= later);
  }
  run_ready(loop);
  CHECK(calls == 1);
}

TEST_CASE("an alarm that has gone off can be set again") {
  Loop loop;
  int calls = 0;
  Alarm alarm(loop, [&] { ++calls; });
  for (int i = 1; i <= 3; ++i) {
    alarm.set(long_ago());
    CHECK(run_until(loop, [&] { return calls == i; }));
  }
}

TEST_CASE("an alarm may be set in its own handler") {
  Loop loop;
  int calls = 0;
  std::optional<Alarm> alarm;
  alarm.emplace(loop, [&] {
    if (++calls < 5) alarm->set(long_ago());
  });
  alarm->set(long_ago());
  CHECK(run_until(loop, [&] { return calls == 5; }));
  run_ready(loop);
  CHECK(calls == 5);
}

TEST_CASE("a cancelled alarm is silent, even when its time has come") {
  Loop loop;
  bool called = false;
  Alarm alarm(loop, [&] { called = true; });
  SECTION("before") { alarm.set(in(1h)); }
  SECTION("after") { alarm.set(long_ago()); }
  alarm.cancel();
  run_ready(loop);
  CHECK_FALSE(called);
  CHECK(loop.context().stopped());  // nothing is left to wait for
}

TEST_CASE("an alarm with a wait that is already done stays silent once it is moved, cancelled or destroyed") {
  // Both times are over before the loop runs, so the second's wait is queued when the first's handler runs.
  const std::string how = GENERATE("moved", "cancelled", "destroyed");
  Loop loop;
  bool called = false;
  std::optional<Alarm> second;
  Alarm first(loop, [&] {
    if (how == "moved") second->set(in(1h));
    if (how == "cancelled") second->cancel();
    if (how == "destroyed") second.reset();
  });
  second.emplace(loop, [&] { called = true; });
  first.set(long_ago());
  second->set(in(-1ms));
  run_ready(loop);
  CHECK_FALSE(called);
}

TEST_CASE("an alarm may be destroyed in its own handler") {
  Loop loop;
  int calls = 0;
  auto kept = std::make_shared<int>(7);
  const std::weak_ptr<int> watched = kept;
  std::unique_ptr<Alarm> alarm;
  int seen = 0;
  alarm = std::make_unique<Alarm>(loop, [&, kept = std::move(kept)] {
    alarm.reset();
    seen = *kept;  // the handler's captures live while it runs
    ++calls;
  });
  alarm->set(long_ago());
  CHECK(run_until(loop, [&] { return calls == 1; }));
  CHECK(seen == 7);
  run_ready(loop);
  CHECK(watched.expired());
}

TEST_CASE("an alarm may outlive the last run of its loop") {
  bool called = false;
  Loop loop;
  Alarm alarm(loop, [&] { called = true; });
  alarm.set(in(1h));
  run_ready(loop);
  CHECK_FALSE(called);
}

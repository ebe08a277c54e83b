// The thread that works at deadlines.
#include <catch2/catch.hpp>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <distrun/runtime/core/deadline_thread.hpp>
#include <distrun/runtime/core/wait.hpp>

#include "support/process.hpp"
#include "unit/support/forked.hpp"

namespace distrun::core {
namespace {

using namespace std::chrono_literals;

base::TimePoint now() { return base::system_clock().now(); }

// An owner: work counts its calls, and returns what the test has set.
class Owner {
 public:
  DeadlineThread& thread() { return thread_; }
  void set_next(std::function<base::TimePoint(std::size_t calls)> next) { next_ = std::move(next); }
  // Returns the times of the calls once there are so many.
  std::vector<base::TimePoint> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 30s, [&] { return times_.size() >= count; });
    return times_;
  }

 private:
  base::TimePoint work() {
    const std::lock_guard lock(mutex_);
    times_.push_back(now());
    changed_.notify_all();
    return next_(times_.size());
  }

  std::function<base::TimePoint(std::size_t)> next_ = [](std::size_t) { return kForever; };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<base::TimePoint> times_;  // guarded by mutex_
  DeadlineThread thread_{"distrun-test", [this] { return work(); }};
};

// Counts the threads of this process with that name, until the kernel has forgotten those that have ended.
bool are_soon(std::size_t count, const std::string& name) {
  return distrun::testing::eventually(10s, [&] {
    std::size_t found = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::ifstream file(task.path() / "comm");
      std::string line;
      if (std::getline(file, line) && line == name) ++found;
    }
    return found == count;
  });
}

TEST_CASE("work is called once at its deadline, not before") {
  Owner owner;
  const base::TimePoint at = now() + 20ms;
  owner.thread().call_by(at);
  const auto times = owner.wait_for(1);
  REQUIRE(times.size() == 1);
  CHECK(times[0] >= at);
  owner.thread().stop();
  CHECK(owner.wait_for(1).size() == 1);
}

TEST_CASE("an earlier deadline comes before one that is known, and a later one does not replace it") {
  Owner owner;
  owner.thread().call_by(now() + 1h);
  const base::TimePoint at = now() + 10ms;
  owner.thread().call_by(at);
  owner.thread().call_by(now() + 2h);
  const auto times = owner.wait_for(1);
  REQUIRE(times.size() == 1);
  CHECK(times[0] >= at);
}

TEST_CASE("a deadline in the past, even the earliest time there is, is due at once") {
  Owner owner;
  owner.thread().call_by(base::TimePoint::min());
  CHECK(owner.wait_for(1).size() == 1);
  owner.thread().call_by(now() - 1h);
  CHECK(owner.wait_for(2).size() == 2);
}

TEST_CASE("the work names the next deadline itself") {
  Owner owner;
  owner.set_next([](std::size_t calls) { return calls < 3 ? now() + 5ms : kForever; });
  owner.thread().call_by(now());
  const auto times = owner.wait_for(3);
  REQUIRE(times.size() == 3);
  CHECK(times[1] - times[0] >= 5ms);
  CHECK(times[2] - times[1] >= 5ms);
  owner.thread().stop();
  CHECK(owner.wait_for(3).size() == 3);
}

TEST_CASE("a deadline that is announced while work runs counts for the next call, whatever the work returns") {
  std::latch begun(1), announced(1), done(2);
  DeadlineThread thread("distrun-test", [&, calls = 0]() mutable {
    if (++calls == 1) {
      begun.count_down();
      announced.wait();
    }
    done.count_down();
    return now() + 1h;
  });
  thread.call_by(now());
  begun.wait();
  thread.call_by(now());
  announced.count_down();
  done.wait();
}

// What is due is kept under the owner's lock; two threads announce it, one within the lock and one after it.
TEST_CASE("nothing is missed that others announce while the work runs") {
  constexpr int kEach = 20'000;
  std::mutex mutex;
  std::condition_variable changed;
  std::multiset<base::TimePoint> due;
  int done = 0;
  DeadlineThread thread("distrun-test", [&] {
    const std::lock_guard lock(mutex);
    while (!due.empty() && *due.begin() <= now()) due.erase(due.begin()), ++done;
    changed.notify_all();
    return due.empty() ? kForever : *due.begin();
  });
  const auto announce = [&](bool is_within) {
    for (int i = 0; i < kEach; ++i) {
      const base::TimePoint at = now() + (i % 3) * 10us;
      std::unique_lock lock(mutex);
      if (is_within) thread.call_by(at);
      due.insert(at);
      lock.unlock();
      if (!is_within) thread.call_by(at);
    }
  };
  std::thread within(announce, true), after(announce, false);
  within.join();
  after.join();
  std::unique_lock lock(mutex);
  CHECK(changed.wait_for(lock, 30s, [&] { return done == 2 * kEach; }));
}

TEST_CASE("a stop waits for running work, and afterwards none is called") {
  std::latch begun(1), stopping(1);
  bool is_over = false;
  DeadlineThread thread("distrun-test", [&] {
    begun.count_down();
    stopping.wait();
    is_over = true;
    return now();
  });
  thread.call_by(now());
  begun.wait();
  stopping.count_down();
  thread.stop();
  CHECK(is_over);
  is_over = false;
  thread.call_by(now());
  thread.stop();
  CHECK_FALSE(is_over);
}

TEST_CASE("there is a thread from the first deadline to the stop") {
  const std::string name = "distrun-counted";
  DeadlineThread thread(name, [] { return kForever; });
  thread.call_by(kForever);
  CHECK(are_soon(0, name));
  thread.call_by(now() + 1h);
  CHECK(are_soon(1, name));
  thread.stop();
  thread.call_by(now());
  CHECK(are_soon(0, name));
}

TEST_CASE("a forked process lacks the thread: it can destroy the object, and other calls do nothing") {
  auto owner = std::make_unique<Owner>();
  owner->thread().call_by(now());
  CHECK(owner->wait_for(1).size() == 1);
  owner->thread().call_by(now() + 1h);
  const auto end = distrun::testing::in_child([&owner] {
    owner->thread().call_by(now());
    owner->thread().stop();
    owner.reset();
    return 0;
  });
  CHECK(end.code == 0);
  owner->thread().call_by(now());
  CHECK(owner->wait_for(2).size() == 2);
}

}  // namespace
}  // namespace distrun::core

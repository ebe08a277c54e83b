#include <distrun/common/base/wait_queue.hpp>

#include <atomic>
#include <thread>

#include <catch2/catch.hpp>

namespace distrun::base {
namespace {

using namespace std::chrono_literals;

// Threads that take tokens, and wait in a queue while tokens are lacking.
struct Takers {
  explicit Takers(int count) {
    for (int i = 0; i < count; ++i) threads.emplace_back([this] { take_all(); });
  }
  ~Takers() {
    {
      const std::lock_guard lock(mutex);
      is_over = true;
      queue.wake_all();
    }
    for (std::thread& each : threads) each.join();
  }
  void take_all() {
    std::unique_lock lock(mutex);
    for (;;) {
      while (tokens == 0 && !is_over) queue.wait_until(lock);
      if (tokens == 0) return;
      --tokens;
      taken.fetch_add(1);
    }
  }
  void give() {
    std::shared_ptr<WaitQueue::Waiter> woken;
    {
      const std::lock_guard lock(mutex);
      ++tokens;
      woken = queue.take();
    }
    if (woken != nullptr) woken->notify();
  }

  std::mutex mutex;
  WaitQueue queue;
  int tokens = 0;
  bool is_over = false;
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
};

TEST_CASE("each thread that is taken out of a queue of waiters continues, with any other waiters") {
  constexpr int kTokens = 20'000;
  Takers takers(6);
  std::vector<std::thread> givers;
  for (int i = 0; i < 2; ++i) {
    givers.emplace_back([&takers] {
      for (int k = 0; k < kTokens / 2; ++k) takers.give();
    });
  }
  for (std::thread& each : givers) each.join();
  const TimePoint until = system_clock().now() + 30s;
  while (takers.taken.load() < kTokens && system_clock().now() < until) std::this_thread::yield();
  CHECK(takers.taken.load() == kTokens);
}

TEST_CASE("a thread that has timed out is no longer in the queue") {
  std::mutex mutex;
  WaitQueue queue;
  std::unique_lock lock(mutex);
  CHECK_FALSE(queue.wait_until(lock, system_clock().now() + 1ms));
  CHECK(queue.size() == 0);
  CHECK(queue.take() == nullptr);
  CHECK_FALSE(queue.wake_one());
}

TEST_CASE("waking one thread of a queue leaves the others in it") {
  std::mutex mutex;
  WaitQueue queue;
  int woken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      std::unique_lock lock(mutex);
      if (queue.wait_until(lock)) ++woken;
    });
  }
  const auto size = [&] {
    const std::lock_guard lock(mutex);
    return queue.size();
  };
  while (size() < 3) std::this_thread::yield();
  {
    const std::lock_guard lock(mutex);
    CHECK(queue.wake_one());
    CHECK(queue.size() == 2);
    queue.wake_all();
    CHECK(queue.size() == 0);
  }
  for (std::thread& each : threads) each.join();
  CHECK(woken == 3);
}

}  // namespace
}  // namespace distrun::base

#include <catch2/catch.hpp>

#include <atomic>
#include <vector>

#include <distrun/common/base/thread.hpp>
#include <distrun/common/io/loop.hpp>

using namespace distrun;
using io::Loop;

TEST_CASE("posted functions run on the loop, in order, and not within post") {
  Loop loop;
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) loop.post([&order, i] { order.push_back(i); });
  CHECK(order.empty());
  loop.run();
  CHECK(order == std::vector<int>{0, 1, 2});
}

TEST_CASE("any thread may post to a loop") {
  Loop loop;
  int sum = 0;
  bool always_in_loop = true;
  {
    std::vector<base::Thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back("poster", [&] {
        for (int i = 0; i < 250; ++i) {
          loop.post([&] {
            always_in_loop = always_in_loop && loop.in_loop();
            ++sum;
          });
        }
      });
    }
  }
  loop.run();
  CHECK(sum == 1000);
  CHECK(always_in_loop);
}

TEST_CASE("a loop belongs to the thread that runs it") {
  Loop loop;
  CHECK(loop.in_loop());
  std::atomic<bool> in_loop_there = false;
  loop.post([&] { in_loop_there = loop.in_loop(); });
  base::Thread("runner", [&] { loop.run(); }).join();
  CHECK(in_loop_there);
  CHECK_FALSE(loop.in_loop());
}

TEST_CASE("a stopped loop keeps posted functions for its next run") {
  Loop loop;
  std::vector<int> order;
  loop.post([&] {
    order.push_back(1);
    loop.stop();
  });
  loop.post([&] { order.push_back(2); });
  loop.run();
  CHECK(order == std::vector<int>{1});
  loop.run();
  CHECK(order == std::vector<int>{1, 2});
}

TEST_CASE("another thread may stop a loop that waits") {
  Loop loop;
  io::Alarm never(loop, [] {});
  never.set(base::TimePoint::max());
  const base::Thread stopper("stopper", [&] { loop.stop(); });
  // A stop before the run begins would be lost: the caller must prevent that.
  loop.post([] {});
  loop.context().run();
  CHECK(loop.context().stopped());
}

TEST_CASE("a loop returns the clock that it was created with") {
  class Frozen final : public base::Clock {
   public:
    base::TimePoint now() const override { return base::TimePoint(std::chrono::seconds(7)); }
    std::int64_t wall_ns() const override { return 7; }
  };
  const Frozen clock;
  Loop loop(clock);
  CHECK(&loop.clock() == &clock);
  CHECK(&Loop().clock() == &base::system_clock());
}

#include <catch2/catch.hpp>

#include <distrun/runtime/collectives/call_queue.hpp>

#include "support/no_threads.hpp"
#include "support/process.hpp"
#include "unit/core/fake_rank_line.hpp"

namespace distrun::collectives {
namespace {

using namespace std::chrono_literals;

TEST_CASE("posted calls run in the order of their numbers, one at a time") {
  const testing::FakeRank rank;
  const auto queue = std::make_shared<CallQueue>(future::handler_pool());
  std::mutex mutex;
  std::vector<std::uint64_t> ran;
  int inside = 0;
  bool alone = true;
  for (int i = 0; i < 100; ++i) {
    queue->post([&](std::uint64_t number) -> CallQueue::Job {
      return [&, number] {
        {
          const std::lock_guard lock(mutex);
          alone = alone && ++inside == 1;
        }
        std::this_thread::yield();
        const std::lock_guard lock(mutex);
        --inside;
        ran.push_back(number);
      };
    });
  }
  REQUIRE(testing::eventually(30s, [&] {
    const std::lock_guard lock(mutex);
    return ran.size() == 100;
  }));
  const std::lock_guard lock(mutex);
  CHECK(alone);
  CHECK(std::is_sorted(ran.begin(), ran.end()));
  CHECK(queue->numbers_given() == 100);
}

TEST_CASE("a call runs at once if none is in flight, and later calls wait behind it") {
  const testing::FakeRank rank;
  const auto queue = std::make_shared<CallQueue>(future::handler_pool());
  REQUIRE(queue->try_begin() == 1);
  CHECK(queue->try_begin() == 0);
  std::atomic<bool> ran{false};
  queue->post([&](std::uint64_t number) -> CallQueue::Job {
    CHECK(number == 2);
    return [&] { ran = true; };
  });
  CHECK(!ran);
  queue->end();
  CHECK(testing::eventually(30s, [&] { return ran.load(); }));
  CHECK(testing::eventually(30s, [&] { return queue->try_begin() == 3; }));
  queue->end();
}

TEST_CASE("a call for which no handler is available is refused, and those after it run") {
  const testing::FakeRank rank;
  const auto queue = std::make_shared<CallQueue>(future::handler_pool());
  std::vector<std::uint64_t> ran;
  std::atomic<bool> is_over{false};
  const auto post = [&](bool is_last) {
    queue->post([&, is_last](std::uint64_t number) -> CallQueue::Job {
      return [&, is_last, number] {
        ran.push_back(number);
        is_over = is_last;
      };
    });
  };
  {
    const test::NoThreads none;
    CHECK_THROWS_WITH(post(false), Catch::Contains("cannot start thread"));
  }
  CHECK(queue->numbers_given() == 0);
  post(true);
  REQUIRE(testing::eventually(30s, [&] { return is_over.load(); }));
  CHECK(ran == std::vector<std::uint64_t>{1});
}

TEST_CASE("a call that ends while no handler is available runs the calls behind it itself") {
  const testing::FakeRank rank;
  const auto queue = std::make_shared<CallQueue>(future::handler_pool());
  REQUIRE(queue->try_begin() == 1);
  std::uint64_t ran = 0;
  queue->post([&](std::uint64_t number) -> CallQueue::Job { return [&ran, number] { ran = number; }; });
  {
    const test::NoThreads none;
    queue->end();
  }
  CHECK(ran == 2);
  CHECK(queue->try_begin() == 3);
  queue->end();
}

}  // namespace
}  // namespace distrun::collectives

#include <catch2/catch.hpp>

#include <distrun/runtime/collectives/call_queue.hpp>

#include "support/process.hpp"
#include "unit/core/fake_rank_line.hpp"

namespace distrun::collectives {
namespace {

using namespace std::chrono_literals;

TEST_CASE("what is posted runs in the order of its numbers, one at a time") {
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

TEST_CASE("who finds nothing under way runs at once, and others behind it") {
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

}  // namespace
}  // namespace distrun::collectives

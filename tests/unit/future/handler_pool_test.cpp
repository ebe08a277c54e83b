// Handlers run, no matter how earlier ones block.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <climits>
#include <thread>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/future/future.hpp>
#include <distrun/runtime/future/handler_pool.hpp>

#include "support/limits.hpp"
#include "unit/core/fake_rank_line.hpp"
#include "unit/future/handlers.hpp"

namespace distrun::future {
namespace {

using namespace testing;

TEST_CASE("a pool has no threads before there is work") {
  const FakeRank rank;
  CHECK(handler_pool().statistics().threads == 0);
  CHECK(&handler_pool() == &handler_pool_of(rank.state));
}

TEST_CASE("tasks run on threads of the pool, for its rank") {
  const FakeRank rank;
  std::atomic<int> right{0};
  constexpr int kTasks = 1000;
  for (int i = 0; i < kTasks; ++i) {
    post(handler_pool(), [&, caller = std::this_thread::get_id()] {
      if (&core::rank_state() == &rank.state && std::this_thread::get_id() != caller) ++right;
    });
  }
  CHECK(soon([&] { return right == kTasks; }));
}

// Runs `handlers` handlers that wait at a door which the last one opens.
void block_on_a_later_one(int handlers, void (Door::*pass)()) {
  const FakeRank rank;
  Door door;
  std::atomic<int> passed{0};
  for (int i = 0; i < handlers; ++i) {
    post(handler_pool(), [&] {
      (door.*pass)();
      ++passed;
    });
  }
  post(handler_pool(), [&] {
    door.open();
    ++passed;
  });
  CHECK(soon([&] { return passed == handlers + 1; }));
  CHECK(handler_pool().statistics().most_threads > handlers);
}

TEST_CASE("handlers that wait for a later handler do not keep it from running") {
  block_on_a_later_one(100, &Door::pass_seen);
}

TEST_CASE("handlers that block without a recorded wait do not keep later ones from running") {
  block_on_a_later_one(20, &Door::pass_unseen);
}

TEST_CASE("threads that were needed only while others blocked end") {
  const FakeRank rank;
  constexpr int kHandlers = 50;
  Door door;
  std::atomic<int> passed{0};
  for (int i = 0; i < kHandlers; ++i) {
    post(handler_pool(), [&] {
      door.pass_seen();
      ++passed;
    });
  }
  REQUIRE(soon([&] { return handler_pool().statistics().blocked == kHandlers; }));
  door.open();
  CHECK(soon([&] { return passed == kHandlers; }));
  CHECK(soon([&] { return handler_pool().statistics().threads <= 10; }));  // at most 8 workers and a watcher
  CHECK(handler_pool().statistics().blocked == 0);
}

TEST_CASE("a pool with handlers that make progress has few threads, for any number of tasks") {
  const FakeRank rank;
  std::atomic<int> done{0};
  constexpr int kTasks = 20'000;
  for (int i = 0; i < kTasks; ++i) post(handler_pool(), [&] { ++done; });
  CHECK(soon([&] { return done == kTasks; }));
  CHECK(handler_pool().statistics().most_threads <= 12);
  CHECK(handler_pool().statistics().queued == 0);
}

TEST_CASE("no more threads run than the wanted number") {
  const FakeRank rank;
  HandlerPool& pool = handler_pool();
  pool.set_wanted(1);
  std::atomic<int> running{0}, most{0}, done{0};
  constexpr int kTasks = 200;
  for (int i = 0; i < kTasks; ++i) {
    post(pool, [&] {
      most = std::max(most.load(), ++running);
      std::this_thread::yield();
      --running;
      ++done;
    });
  }
  CHECK(soon([&] { return done == kTasks; }));
  // On a busy machine a handler without progress counts as blocked.
  CHECK(most <= 1 + static_cast<int>(pool.statistics().raises));
  pool.set_wanted(INT_MAX);
}

TEST_CASE("a place has a worker before there is work") {
  const FakeRank rank;
  const Placed placed(handler_pool());
  CHECK(soon([&] { return placed.place->inside() == 1; }));
  CHECK(placed.pool.statistics().threads == 1);
}

TEST_CASE("a worker that finds a task in its place runs it, and another one idles there meanwhile") {
  const FakeRank rank;
  const Placed placed(handler_pool());
  for (int i = 0; i < 100; ++i) {
    REQUIRE(soon([&] { return placed.place->inside() == placed.pool.statistics().threads; }));
    std::atomic<bool> is_right{false}, done{false};
    placed.place->find([&] {
      is_right =
          placed.place->finder() == std::this_thread::get_id() && soon([&] { return placed.place->inside() > 0; });
      done = true;
    });
    REQUIRE(soon([&] { return done.load(); }));
    CHECK(is_right);
  }
  CHECK(placed.pool.statistics().most_threads == 2);
}

TEST_CASE("a task that another thread posts wakes a worker in the place") {
  const FakeRank rank;
  const Placed placed(handler_pool());
  std::atomic<int> done{0};
  for (int i = 0; i < 100; ++i) {
    REQUIRE(soon([&] { return placed.place->inside() > 0; }));
    post(placed.pool, [&] { ++done; });
    REQUIRE(soon([&] { return done == i + 1; }));
  }
}

TEST_CASE("tasks run on the place's worker if no other thread can be started") {
  const FakeRank rank;
  const Placed placed(handler_pool());
  REQUIRE(soon([&] { return placed.place->inside() == 1; }));
  std::atomic<int> done{0};
  const LittleMemory no_stack(1 << 20);
  for (int i = 0; i < 3; ++i) placed.place->find([&] { ++done; });
  CHECK(soon([&] { return done == 3; }));
  CHECK(placed.pool.statistics().threads == 1);
}

// Nests `levels` handlers, each of which waits for the result of the next one.
void nest(const Placed& placed, int levels, const Future<int>& end) {
  if (levels == 0) return end.set_result(1);
  placed.place->find([&placed, levels, end] {
    const Future<int> next;
    nest(placed, levels - 1, next);
    end.set_result(next.wait() + 1);
  });
}

TEST_CASE("handlers that block within handlers never leave the place without a worker") {
  const FakeRank rank;
  const Placed placed(handler_pool());
  for (const int wanted : {INT_MAX, 1}) {
    placed.pool.set_wanted(wanted);
    const Future<int> end;
    nest(placed, 10, end);
    CHECK(end.wait(std::chrono::seconds(30)) == 11);
  }
  placed.pool.set_wanted(INT_MAX);
  CHECK(soon([&] { return placed.pool.statistics().threads <= 10; }));
  CHECK(soon([&] { return placed.place->inside() > 0; }));
}

TEST_CASE("handlers that block without a recorded wait never leave the place without a worker") {
  const FakeRank rank;
  const Placed placed(handler_pool());
  Door door;
  std::atomic<int> passed{0};
  constexpr int kHandlers = 12;
  for (int i = 0; i < kHandlers; ++i) {
    placed.place->find([&] {
      door.pass_unseen();
      ++passed;
    });
  }
  placed.place->find([&] {
    door.open();
    ++passed;
  });
  CHECK(soon([&] { return passed == kHandlers + 1; }));
}

TEST_CASE("with the wanted number reached, tasks wait, and the place has a worker") {
  const FakeRank rank;
  const Placed placed(handler_pool());
  placed.pool.set_wanted(1);
  std::atomic<int> done{0};
  constexpr int kTasks = 1000;
  for (int i = 0; i < kTasks; ++i) placed.place->find([&] { ++done; });
  CHECK(soon([&] { return done == kTasks; }));
  const HandlerPool::Statistics statistics = placed.pool.statistics();
  CHECK(statistics.most_threads <= 4 + static_cast<int>(statistics.raises));
  placed.pool.set_wanted(INT_MAX);
}

TEST_CASE("no worker is in a place that was left, and the pool continues without it") {
  const FakeRank rank;
  HandlerPool& pool = handler_pool();
  std::atomic<int> done{0};
  for (int i = 0; i < 50; ++i) {
    const auto place = std::make_shared<FakePlace>(pool);
    pool.use(place);
    CHECK_THROWS_WITH(pool.use(place), Catch::Contains("already idle at another place"));
    post(pool, [&] { ++done; });
    place->find([&] { ++done; });
    REQUIRE(soon([&] { return done == 3 * i + 2; }));
    pool.leave(*place);
    CHECK(place->inside() == 0);
    pool.leave(*place);
    post(pool, [&] { ++done; });
    REQUIRE(soon([&] { return done == 3 * i + 3; }));
    CHECK(place.use_count() == 1);
  }
}

TEST_CASE("resting workers move to a place") {
  const FakeRank rank;
  HandlerPool& pool = handler_pool();
  std::atomic<bool> done{false};
  post(pool, [&] { done = true; });
  REQUIRE(soon([&] { return done.load(); }));
  const int threads = pool.statistics().threads;
  const Placed placed(pool);
  CHECK(soon([&] { return placed.place->inside() > 0; }));
  CHECK(pool.statistics().threads == threads);
}

TEST_CASE("a place may be used and left while workers come to rest and are called") {
  const FakeRank rank;
  HandlerPool& pool = handler_pool();
  std::atomic<bool> is_over{false};
  std::atomic<int> posted{0}, done{0};
  std::vector<std::thread> posters;
  for (int i = 0; i < 2; ++i) {
    posters.emplace_back([&] {
      while (!is_over) {
        if (posted - done > 4) continue;
        ++posted;
        post(pool, [&] { ++done; });
      }
    });
  }
  for (int i = 0; i < 1000; ++i) {
    const auto place = std::make_shared<FakePlace>(pool);
    pool.use(place);
    std::this_thread::yield();
    pool.leave(*place);
  }
  is_over = true;
  for (std::thread& each : posters) each.join();
  CHECK(soon([&] { return done == posted; }));
}

// Control tasks run while handlers block in locks.
void control_beside_blocked(HandlerPool& pool) {
  constexpr int kHandlers = 2;  // runs concurrently on every machine
  Door door;
  std::atomic<int> blocked{0}, passed{0};
  for (int i = 0; i < kHandlers; ++i) {
    post(pool, [&] {
      ++blocked;
      door.pass_unseen();
      ++passed;
    });
  }
  CHECK(soon([&] { return blocked == kHandlers; }));
  std::vector<int> order;  // one runs at a time
  std::atomic<int> done{0};
  constexpr int kTasks = 100;
  for (int i = 0; i < kTasks; ++i) {
    pool.post_control(task([&, i] {
      order.push_back(i);
      ++done;
    }));
  }
  CHECK(soon([&] { return done == kTasks; }));
  CHECK(std::is_sorted(order.begin(), order.end()));
  door.open();
  CHECK(soon([&] { return passed == kHandlers; }));
}

TEST_CASE("control tasks run, in order, while handlers block in locks") {
  const FakeRank rank;
  SECTION("without a place") { control_beside_blocked(handler_pool()); }
  SECTION("with a place") {
    const Placed placed(handler_pool());
    control_beside_blocked(placed.pool);
  }
}

// Records the notes on the line.
class NotedLine final : public core::RankLine {
 public:
  int begin_wait(const board::WaitInfo&, base::TimePoint) noexcept override { return 0; }
  void end_wait(int) noexcept override {}
  void note(board::WaitKind kind, std::string_view name, int, std::uint64_t) noexcept override {
    const std::lock_guard lock(mutex_);
    if (kind == board::WaitKind::PoolSlot) notes_.emplace_back(name);
  }
  void progress() noexcept override {}
  std::optional<board::Shown> look_at(int) const override { return std::nullopt; }

  std::vector<std::string> notes() const {
    const std::lock_guard lock(mutex_);
    return notes_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> notes_;
};

// All threads of a pool with a limit are taken by waiting handlers; others queue, and control tasks run.
void reach_bound(HandlerPool& pool, int handlers, const NotedLine& line) {
  for (std::size_t time = 1; time <= 2; ++time) {
    Door door;
    std::atomic<int> passed{0}, late{0};
    for (int i = 0; i < handlers; ++i) {
      post(pool, [&] {
        door.pass_seen();
        ++passed;
      });
    }
    CHECK(soon([&] { return pool.statistics().blocked == handlers; }));
    CHECK_FALSE(pool.statistics().at_bound);
    for (int i = 0; i < 3; ++i) post(pool, [&] { ++late; });
    CHECK(pool.statistics().at_bound);
    CHECK(line.notes() == std::vector<std::string>(time, "handlers: all 4 threads are taken, 1 call waits"));
    std::atomic<int> controls{0};
    for (int i = 0; i < 10; ++i) {
      pool.post_control(task([&] { ++controls; }));
      CHECK(soon([&] { return controls == i + 1; }));
    }
    CHECK(late == 0);
    CHECK(pool.statistics().queued == 3);
    door.open();
    CHECK(soon([&] { return passed == handlers && late == 3; }));
    CHECK_FALSE(pool.statistics().at_bound);
  }
  CHECK(pool.statistics().most_threads <= 6);  // 4, one for control tasks, the watcher
}

TEST_CASE("with all threads taken the queue waits, control tasks run, and the board says so once") {
  NotedLine line;
  const FakeRank rank;
  rank.state.use(&line);
  auto& pool = *new HandlerPool(rank.state, 4);  // its threads live until the process ends
  SECTION("without a place") { reach_bound(pool, 4, line); }
  SECTION("with a place, where one idles") {
    const Placed placed(pool);
    reach_bound(pool, 3, line);
    CHECK(soon([&] { return placed.place->inside() > 0; }));
  }
}

}  // namespace
}  // namespace distrun::future

// Handlers run, in whatever way those before them block.
#include <catch2/catch.hpp>

#include <atomic>
#include <set>
#include <thread>

#include <distrun/runtime/future/handler_pool.hpp>

#include "support/process.hpp"
#include "unit/core/fake_rank_line.hpp"

namespace distrun::future {
namespace {

using testing::FakeRank;

class Calls final : public HandlerTask {
 public:
  explicit Calls(std::function<void()> body) : body_(std::move(body)) {}
  void run() noexcept override { body_(); }

 private:
  std::function<void()> body_;
};

void post(HandlerPool& pool, std::function<void()> body) { pool.post(std::make_unique<Calls>(std::move(body))); }

bool soon(const std::function<bool()>& question) { return testing::eventually(std::chrono::seconds(30), question); }

// What handlers block on until it is opened, in a way that the pool is told of or not.
class Door {
 public:
  void pass_seen() {
    std::unique_lock lock(mutex_);
    core::wait_until({}, lock, changed_, core::kForever, [this] { return open_; });
  }
  void pass_unseen() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }
  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

TEST_CASE("a pool has no thread before there is work") {
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

// So many handlers that pass a door which the last one opens.
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

TEST_CASE("handlers that wait for a later one do not keep it from running") {
  block_on_a_later_one(100, &Door::pass_seen);
}

TEST_CASE("nor do handlers that block where nobody sees it") { block_on_a_later_one(20, &Door::pass_unseen); }

TEST_CASE("threads that were only needed while others blocked end") {
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
  CHECK(soon([&] { return handler_pool().statistics().threads <= 10; }));  // 8 workers at most, and a watcher
  CHECK(handler_pool().statistics().blocked == 0);
}

TEST_CASE("a pool whose handlers get on has few threads, whatever comes") {
  const FakeRank rank;
  std::atomic<int> done{0};
  constexpr int kTasks = 20'000;
  for (int i = 0; i < kTasks; ++i) post(handler_pool(), [&] { ++done; });
  CHECK(soon([&] { return done == kTasks; }));
  CHECK(handler_pool().statistics().most_threads <= 12);
  CHECK(handler_pool().statistics().queued == 0);
}

}  // namespace
}  // namespace distrun::future

// Waits of the runtime: shown while they last, and ended by their event, a deadline, or a peer's failure.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/core/wait.hpp>

#include "support/process.hpp"
#include "unit/core/fake_rank_line.hpp"

namespace distrun::core {
namespace {

using namespace std::chrono_literals;
using testing::FakeRank;

board::WaitInfo reply_from(int rank) {
  board::WaitInfo info;
  info.kind = board::WaitKind::RpcReply;
  info.name = "f";
  info.rule = board::PeerRule::All;
  info.peers.add(rank);
  info.id = 81;
  return info;
}

base::TimePoint soon() { return base::system_clock().now() + 20ms; }

struct Door {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;

  void unlock() {
    {
      const std::lock_guard lock(mutex);
      open = true;
    }
    changed.notify_all();
  }
};

// Calls `act` once the rank waits.
base::Thread once_it_waits(FakeRank& rank, std::function<void()> act) {
  return base::Thread("other", [&rank, act = std::move(act)] {
    testing::eventually(std::chrono::seconds(30), [&] { return rank.line.count() > 0; });
    act();
  });
}

TEST_CASE("a condition that already holds is not waited for, and no wait is shown") {
  FakeRank rank;
  Door door;
  std::unique_lock lock(door.mutex);
  CHECK(wait_until(reply_from(0), lock, door.changed, kForever, [] { return true; }));
  CHECK(wait_for_peers(reply_from(0), lock, door.changed, kForever, [] { return true; }) == WaitEnd::Ready);
  CHECK(rank.line.begun.empty());
}

TEST_CASE("an inline function may not wait for other ranks, unless the condition already holds") {
  FakeRank rank;
  Door door;
  const std::string name = "peek";
  const InlineFunctionScope scope(&name);
  std::unique_lock lock(door.mutex);
  CHECK(wait_for_peers(reply_from(0), lock, door.changed, soon(), [] { return true; }) == WaitEnd::Ready);
  CHECK(poll_until(reply_from(0), soon(), 1ms, [] { return true; }));
  CHECK_THROWS_WITH(wait_for_peers(reply_from(0), lock, door.changed, soon(), [] { return false; }),
                    Catch::StartsWith("the inline function \"peek\" waits for other ranks: it runs on the thread"));
  CHECK(lock.owns_lock());
  CHECK_THROWS_WITH(poll_until(reply_from(0), soon(), 1ms, [] { return false; }), Catch::Contains("\"peek\" waits"));
  CHECK(rank.line.begun.size() == rank.line.ended.size());
}

TEST_CASE("a wait shows the ranks it waits for, its number and its deadline") {
  FakeRank rank;
  Door door;
  std::unique_lock lock(door.mutex);
  const base::TimePoint deadline = soon();
  CHECK_FALSE(wait_until(reply_from(3), lock, door.changed, deadline, [] { return false; }));
  REQUIRE(rank.line.begun.size() == 1);
  CHECK(rank.line.names.front() == "f");
  const testing::FakeRankLine::Begun& begun = rank.line.begun.front();
  CHECK(begun.info.id == 81);
  CHECK(begun.info.peers.has(3));
  CHECK_FALSE(begun.info.peers.has(0));
  CHECK(begun.deadline == deadline);
  CHECK(rank.line.ended == std::vector{5});
}

TEST_CASE("a wait for peers ends by its deadline, with its lock held") {
  FakeRank rank;
  Door door;
  std::unique_lock lock(door.mutex);
  CHECK(wait_for_peers(reply_from(0), lock, door.changed, soon(), [] { return false; }) == WaitEnd::Timeout);
  CHECK(lock.owns_lock());
  CHECK(rank.line.ended.size() == 1);
}

TEST_CASE("a wait for peers ends when its condition holds") {
  FakeRank rank;
  Door door;
  base::Thread other = once_it_waits(rank, [&] { door.unlock(); });
  std::unique_lock lock(door.mutex);
  CHECK(wait_for_peers(reply_from(0), lock, door.changed, kForever, [&] { return door.open; }) == WaitEnd::Ready);
  lock.unlock();
  other.join();
}

TEST_CASE("a wait for peers ends when one of them fails, and names it") {
  FakeRank rank;
  Door door;
  base::Thread other = once_it_waits(rank, [&] { rank.state.fail_peer({2, "rank 2 failed: no paper"}); });
  std::unique_lock lock(door.mutex);
  CHECK(wait_for_peers(reply_from(0), lock, door.changed, kForever, [] { return false; }) == WaitEnd::PeerFailed);
  lock.unlock();
  other.join();
  try {
    throw_peer_failed("rpc_sync(\"f\")");
  } catch (const base::PeerFailed& error) {
    CHECK(error.rank() == 2);
    CHECK(error.text() == "rpc_sync(\"f\"): rank 2 failed: no paper");
  }
}

TEST_CASE("a result that is there when a peer fails is still taken") {
  FakeRank rank;
  Door door;
  base::Thread other = once_it_waits(rank, [&] {
    {
      const std::lock_guard lock(door.mutex);
      door.open = true;  // without a notification
    }
    rank.state.fail_peer({2, "rank 2 failed"});
  });
  std::unique_lock lock(door.mutex);
  CHECK(wait_for_peers(reply_from(0), lock, door.changed, kForever, [&] { return door.open; }) == WaitEnd::Ready);
  lock.unlock();
  other.join();
}

TEST_CASE("a thread that waits after a peer has failed is notified at once") {
  FakeRank rank;
  rank.state.fail_peer({1, "rank 1 failed"});
  Door door;
  std::unique_lock lock(door.mutex);
  CHECK(wait_for_peers(reply_from(0), lock, door.changed, kForever, [] { return false; }) == WaitEnd::PeerFailed);
}

TEST_CASE("many threads wait while a peer fails, and all of them end") {
  FakeRank rank;
  Door door;
  std::atomic<int> failed{0};
  std::vector<base::Thread> waiters;
  for (int i = 0; i < 8; ++i) {
    waiters.emplace_back("waiter", [&, state = thread_state()] {
      const ThreadStateGuard works_for(state);
      std::unique_lock lock(door.mutex);
      const WaitEnd end = wait_for_peers(reply_from(0), lock, door.changed, kForever, [] { return false; });
      if (end == WaitEnd::PeerFailed) ++failed;
    });
  }
  rank.state.fail_peer({3, "rank 3 failed"});
  waiters.clear();
  CHECK(failed == 8);
}

TEST_CASE("a wait that polls for peers ends by its condition, its deadline, or a peer's failure") {
  FakeRank rank;
  CHECK(poll_for_peers(reply_from(0), soon(), 1ms, [] { return true; }) == WaitEnd::Ready);
  CHECK(rank.line.begun.empty());
  int polls = 0;
  CHECK(poll_for_peers(reply_from(0), kForever, 1ms, [&] { return ++polls == 5; }) == WaitEnd::Ready);
  CHECK(polls == 5);
  CHECK(poll_for_peers(reply_from(0), soon(), 1ms, [] { return false; }) == WaitEnd::Timeout);
  CHECK_FALSE(poll_until(reply_from(0), soon(), 1ms, [] { return false; }));
  rank.state.fail_peer({2, "rank 2 failed"});
  CHECK(poll_for_peers(reply_from(0), kForever, 1ms, [] { return false; }) == WaitEnd::PeerFailed);
  CHECK_THROWS_WITH(poll_until(reply_from(0), kForever, 1ms, [] { return false; }), "waiting for f: rank 2 failed");
  CHECK(rank.line.begun.size() == rank.line.ended.size());
}

}  // namespace
}  // namespace distrun::core

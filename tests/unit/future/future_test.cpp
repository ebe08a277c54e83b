// Futures of host values: completion, waits, continuations.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <thread>

#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/future/future.hpp>

#include "unit/future/fake_progress.hpp"
#include "unit/future/support.hpp"

namespace distrun {
namespace {

using namespace testing;
using namespace std::chrono_literals;

TEST_CASE("a future returns its value any number of times") {
  const FakeRank rank;
  const Future<std::string> future;
  CHECK_FALSE(future.done());
  future.set_result("here");
  CHECK(future.done());
  CHECK(future.wait() == "here");
  CHECK(future.wait() == "here");
  CHECK(future.value() == "here");
  CHECK_FALSE(future.failed());
}

TEST_CASE("copies of a future are the same future") {
  const FakeRank rank;
  const Future<int> one;
  const Future<int> same = one;  // NOLINT(performance-unnecessary-copy-initialization)
  one.set_result(3);
  CHECK(same.wait() == 3);
}

TEST_CASE("a future without a value is done or failed like others") {
  const FakeRank rank;
  const Future<void> future;
  future.set_result();
  future.wait();
  CHECK(future.done());
}

TEST_CASE("a failed future throws its error each time, with its kind and type") {
  const FakeRank rank;
  const Future<int> future;
  future.set_error(value_error());
  CHECK(future.done());
  for (int i = 0; i < 2; ++i) {
    const Error error = error_of([&] { future.wait(); });
    CHECK(error.kind() == ErrorKind::InvalidArgument);
    CHECK(error.type() == "ValueError");
    CHECK(error.text() == "Expected error");
  }
  CHECK(error_of([&] { (void)future.value(); }).type() == "ValueError");
  CHECK(future.failed());
}

TEST_CASE("exceptions of any type come out of a future unchanged") {
  const FakeRank rank;
  const Future<int> future;
  future.set_error(std::make_exception_ptr(std::out_of_range("beyond")));
  CHECK_THROWS_AS(future.wait(), std::out_of_range);
}

// A catcher of an error may add to it.
TEST_CASE("each waiter gets a separate copy of the error") {
  const FakeRank rank;
  const Future<int> future;
  future.set_error(value_error());
  try {
    future.wait();
  } catch (Error& error) {
    error.while_doing("train");
  }
  CHECK(std::string(error_of([&] { future.wait(); }).what()) == "Expected error");
}

TEST_CASE("a wait with the largest timeout really waits") {
  const FakeRank rank;
  const Future<int> future;
  std::thread other([&future] {
    pause_for(std::chrono::milliseconds(20));
    future.set_result(1);
  });
  CHECK(future.wait(base::Nanoseconds::max()) == 1);
  other.join();
}

TEST_CASE("a future is completed once") {
  const FakeRank rank;
  const Future<int> future;
  future.set_result(1);
  CHECK_THROWS_WITH(future.set_result(2), Catch::StartsWith("Future can only be marked completed once"));
  CHECK_THROWS_WITH(future.set_error(value_error()), Catch::StartsWith("Future can only be marked completed once"));
  CHECK(future.wait() == 1);
}

TEST_CASE("one of the threads that complete a future succeeds") {
  const FakeRank rank;
  for (int i = 0; i < 200; ++i) {
    const Future<int> future;
    std::atomic<int> completed{0};
    {
      std::vector<base::Thread> threads;
      for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back("completes", [&, thread] {
          try {
            future.set_result(thread);
            ++completed;
          } catch (const Error&) {
            return;
          }
        });
      }
    }
    REQUIRE(completed == 1);
    REQUIRE(future.value() < 4);
  }
}

TEST_CASE("value() does not wait") {
  const FakeRank rank;
  const Future<int> future;
  CHECK_THROWS_WITH(future.value(), "the future is not complete; value() does not wait, use wait()");
}

TEST_CASE("a wait ends when its timeout is over, and the future can still be done") {
  const FakeRank rank;
  const Future<int> future;
  const Error error = error_of([&] { future.wait(20ms); });
  CHECK(error.kind() == ErrorKind::Timeout);
  CHECK_THAT(error.text(), Catch::StartsWith("a future made at ") && Catch::EndsWith("was not done within 20.0 ms"));
  future.set_result(7);
  CHECK(future.wait(0ms) == 7);
}

TEST_CASE("a wait shows its name, and the ranks it waits for") {
  FakeRank rank;
  future::FutureInfo info(base::Location::here());
  info.kind = board::WaitKind::RpcReply;
  info.name = "f";
  info.id = 81;
  info.peers.add(3);
  const auto future = Future<int>::of(info);
  const base::Thread other = once_it_waits(rank, [&] { future.set_result(1); });
  CHECK(future.wait() == 1);
  REQUIRE(rank.line.begun.size() == 1);
  CHECK(rank.line.names.front() == "f");
  CHECK(rank.line.begun.front().info.kind == board::WaitKind::RpcReply);
  CHECK(rank.line.begun.front().info.id == 81);
  CHECK(rank.line.begun.front().info.rule == board::PeerRule::All);
  CHECK(rank.line.begun.front().info.peers.has(3));
}

TEST_CASE("a wait ends when a peer fails, and names the peer") {
  FakeRank rank;
  const Future<int> future;
  const base::Thread other = once_it_waits(rank, [&] { rank.state.fail_peer({2, "rank 2 failed: no paper"}); });
  try {
    future.wait();
    FAIL("nothing was thrown");
  } catch (const PeerFailed& error) {
    CHECK(error.rank() == 2);
    CHECK_THAT(error.text(), Catch::Contains("rank 2 failed: no paper") && Catch::StartsWith("waiting for a future"));
  }
}

TEST_CASE("then() returns a future of the callback's result") {
  const FakeRank rank;
  const Future<int> future;
  const Future<std::string> text = future.then([](const Future<int>& done) { return std::to_string(done.wait()); });
  const Future<void> nothing = text.then([](const Future<std::string>&) {});
  CHECK_FALSE(text.done());
  future.set_result(42);
  CHECK(text.wait() == "42");
  nothing.wait();
}

TEST_CASE("a callback attached to a completed future runs at once, on the attaching thread") {
  const FakeRank rank;
  const Future<int> future;
  future.set_result(1);
  const auto here = std::this_thread::get_id();
  const auto there = future.then([](const Future<int>&) { return std::this_thread::get_id(); });
  CHECK(there.done());
  CHECK(there.value() == here);
}

TEST_CASE("a callback attached earlier runs on a handler thread, in order of attachment") {
  const FakeRank rank;
  const Future<int> future;
  std::vector<int> order;  // sequentially
  std::thread::id thread;
  for (int i = 0; i < 50; ++i) {
    future.add_done_callback([&, i](const Future<int>& done) {
      order.push_back(i + done.wait());
      thread = std::this_thread::get_id();
    });
  }
  const Future<int> last = future.then([](const Future<int>&) { return 1; });
  future.set_result(0);
  last.wait();
  REQUIRE(order.size() == 50);
  CHECK(std::is_sorted(order.begin(), order.end()));
  CHECK(thread != std::this_thread::get_id());
}

TEST_CASE("callbacks run after an error too, and an exception of a callback goes to its child") {
  const FakeRank rank;
  const Future<int> future;
  Error seen(ErrorKind::Failed, "none");
  const Future<int> child = future.then([&](const Future<int>& done) -> int {
    seen = error_of([&] { done.wait(); });
    throw Error(ErrorKind::Failed, "Another expected error");
  });
  future.set_error(value_error());
  CHECK(error_of([&] { child.wait(); }).text() == "Another expected error");
  CHECK(seen.type() == "ValueError");
}

TEST_CASE("an empty function is refused at once") {
  const FakeRank rank;
  const Future<int> future;
  const std::function<int(Future<int>)> none;
  int (*const null)(Future<int>) = nullptr;
  CHECK_THROWS_WITH(future.then(none), Catch::StartsWith("incompatible function arguments."));
  CHECK_THROWS_WITH(future.add_done_callback(null), Catch::StartsWith("incompatible function arguments."));
}

TEST_CASE("callbacks may block on results that only other callbacks bring") {
  const FakeRank rank;
  const Future<int> door;
  const Future<int> start;
  std::vector<Future<int>> blocked;
  for (int i = 0; i < 50; ++i) {
    const Future<int> own;
    blocked.push_back(own.then([door](const Future<int>& done) { return door.wait() + done.value(); }));
    own.set_result(i);
  }
  const Future<void> opens = start.then([door](const Future<int>& done) { door.set_result(done.value()); });
  start.set_result(100);
  for (int i = 0; i < 50; ++i) CHECK(blocked[static_cast<std::size_t>(i)].wait(30s) == 100 + i);
}

TEST_CASE("a callback runs under the thread state of the thread that attached it") {
  const FakeRank rank;
  const Future<int> future;
  core::ThreadState state = core::thread_state();
  state.grad_enabled = false;
  state.autograd_context = 7;
  const Future<bool> right = [&] {
    const core::ThreadStateGuard guard(state);
    return future.then([](const Future<int>&) {
      return !core::thread_state().grad_enabled && core::thread_state().autograd_context == 7;
    });
  }();
  future.set_result(1);
  CHECK(right.wait());
}

TEST_CASE("a chain of a hundred thousand callbacks needs no deep stack") {
  const FakeRank rank;
  constexpr int kLinks = 100'000;
  const Future<int> first;
  Future<int> last = first;
  const auto link = [](const Future<int>& done) { return done.wait() + 1; };
  SECTION("when it runs") {
    for (int i = 0; i < kLinks; ++i) last = last.then(link);
    first.set_result(0);
    CHECK(last.wait(60s) == kLinks);
  }
  SECTION("when it is attached to a completed future") {
    first.set_result(0);
    for (int i = 0; i < kLinks; ++i) last = last.then(link);
    CHECK(last.value() == kLinks);
  }
  SECTION("when it fails") {
    for (int i = 0; i < kLinks; ++i) last = last.then(link);
    first.set_error(value_error());
    CHECK(error_of([&] { last.wait(60s); }).type() == "ValueError");
  }
  SECTION("when its first future is destroyed") {
    auto gone = std::make_unique<Future<int>>();
    last = *gone;
    for (int i = 0; i < kLinks; ++i) last = last.then(link);
    gone.reset();
    CHECK(error_of([&] { last.wait(60s); }).kind() == ErrorKind::Cancelled);
  }
}

TEST_CASE("dependents of a future that is destroyed fail instead of never completing") {
  FakeRank rank;
  auto gone = std::make_unique<Future<int>>();
  const Future<int> child = gone->then([](const Future<int>& done) { return done.wait(); });
  gone.reset();
  const Error error = error_of([&] { child.wait(); });
  CHECK(error.kind() == ErrorKind::Cancelled);
  CHECK_THAT(error.text(), Catch::Contains("was destroyed before it was complete"));
  CHECK(unseen(rank).empty());
}

TEST_CASE("a callback's future that another thread completes keeps that value") {
  const FakeRank rank;
  const Future<int> future;
  const Future<int> child = future.then([](const Future<int>&) { return 1; });
  const Future<void> after = future.then([](const Future<int>&) {});
  child.set_result(2);
  future.set_result(0);
  after.wait();
  CHECK(child.wait() == 2);
}

TEST_CASE("a thread that waits on a future does the work itself, and shows no wait") {
  FakeRank rank;
  std::optional<Future<int>> future;
  const auto progress = std::make_shared<FakeProgress>([&] { future->set_result(8); });
  future = future_with<int>(progress);
  const base::TimePoint before = base::system_clock().now();
  CHECK(future->wait(30s) == 8);
  CHECK(future->wait() == 8);
  CHECK(progress->calls == 1);
  CHECK_FALSE(progress->was_there);
  CHECK(progress->is_there);
  CHECK(progress->deadline >= before + 30s);
  CHECK(rank.line.count() == 0);
}

TEST_CASE("a thread that has driven progress in vain waits like others") {
  FakeRank rank;
  const auto progress = std::make_shared<FakeProgress>([] {});
  const auto future = future_with<int>(progress);
  CHECK(error_of([&] { future.wait(1ms); }).kind() == ErrorKind::Timeout);
  CHECK(rank.line.count() == 1);
  const base::Thread other = once_it_waits(rank, [&] { future.set_result(1); });
  CHECK(future.wait() == 1);
  CHECK(progress->calls == 2);
}

TEST_CASE("a wait on a dependent future drives the same progress") {
  const FakeRank rank;
  std::optional<Future<int>> future;
  const auto progress = std::make_shared<FakeProgress>([&] { future->set_result(8); });
  future = future_with<int>(progress);
  const Future<int> child = future->then([](const Future<int>& done) { return done.wait() + 1; });
  CHECK(child.wait() == 9);
  CHECK(progress->calls == 1);
}

}  // namespace
}  // namespace distrun

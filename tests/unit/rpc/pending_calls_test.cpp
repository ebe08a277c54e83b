// The table of pending calls.
#include <catch2/catch.hpp>

#include <condition_variable>
#include <mutex>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/rpc/calls/pending_calls.hpp>
#include <distrun/runtime/rpc/calls/running_calls.hpp>

#include "support/error_of.hpp"

namespace distrun::rpc {
namespace {

using std::chrono::milliseconds;

// Records expired calls, in order.
class Expiries {
 public:
  PendingCalls::Expired writer() {
    return [this](const PendingCall& call) {
      const std::lock_guard lock(mutex_);
      ids_.push_back(call.id);
      changed_.notify_all();
    };
  }
  std::vector<std::uint64_t> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [&] { return ids_.size() >= count; });
    return ids_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::uint64_t> ids_;
};

PendingCall call_of(std::uint64_t id, WorkerId peer = 1, base::TimePoint deadline = core::kForever) {
  static const auto state = future::Future<Value>().state();
  PendingCall call;
  call.id = id;
  call.peer = peer;
  call.name = "f";
  call.deadline = deadline;
  call.future = state;
  return call;
}

std::uint64_t add(PendingCalls& calls, WorkerId peer = 1, base::TimePoint deadline = core::kForever) {
  const std::uint64_t id = calls.next_id();
  CHECK(calls.add(call_of(id, peer, deadline)));
  return id;
}

std::vector<PendingCall> take_all(PendingCalls& calls, std::optional<WorkerKey> peer = {}) {
  std::vector<PendingCall> taken;
  std::size_t place = 0;
  while (auto call = calls.take_next(place, peer)) taken.push_back(std::move(*call));
  return taken;
}

base::TimePoint in(milliseconds time) { return base::system_clock().now() + time; }

TEST_CASE("a call is taken once, by its number and its peer") {
  PendingCalls calls({});
  const std::uint64_t id = add(calls, 3);
  CHECK(id != 0);
  CHECK(calls.count() == 1);
  CHECK_FALSE(calls.take(id, 4));
  CHECK_FALSE(calls.take(id + 1, 3));
  CHECK_FALSE(calls.take(id + 64, 3));
  CHECK_FALSE(calls.take(0, -1));
  const auto taken = calls.take(id, 3);
  REQUIRE(taken);
  CHECK(taken->id == id);
  CHECK_FALSE(calls.take(id, 3));
  CHECK(calls.count() == 0);
}

TEST_CASE("a number that was only reserved is not a call yet") {
  PendingCalls calls({});
  const std::uint64_t id = calls.next_id();
  CHECK_FALSE(calls.take(id, -1));
  CHECK(take_all(calls).empty());
  CHECK(calls.add(call_of(id)));
  CHECK(calls.take(id, 1));
}

TEST_CASE("one call that waits for long does not keep others from getting numbers") {
  PendingCalls calls({});
  const std::uint64_t first = add(calls);
  std::uint64_t last = first;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t id = add(calls);
    REQUIRE(id > last);
    last = id;
    REQUIRE(calls.take(id, 1));
  }
  CHECK(calls.count() == 1);
  CHECK(calls.take(first, 1));
}

TEST_CASE("the table grows with the calls that wait at once, and all are found") {
  PendingCalls calls({});
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 100'000; ++i) {
    ids.push_back(add(calls));
    if (i % 3 != 0) continue;
    REQUIRE(calls.take(ids[ids.size() / 2], 1));
    ids[ids.size() / 2] = ids.back();
    ids.pop_back();
  }
  CHECK(calls.count() == static_cast<int>(ids.size()));
  for (const std::uint64_t id : ids) REQUIRE(calls.take(id, 1));
  CHECK(calls.count() == 0);
}

TEST_CASE("all calls to one peer are taken, or all calls") {
  PendingCalls calls({});
  for (int i = 0; i < 100; ++i) add(calls, i % 4);
  CHECK(take_all(calls, WorkerKey(2)).size() == 25);
  CHECK(take_all(calls, WorkerKey(2)).empty());
  CHECK(calls.count() == 75);
  CHECK(take_all(calls).size() == 75);
  CHECK(calls.count() == 0);
}

TEST_CASE("a call that was taken is put back, unless its slot is in use by now") {
  PendingCalls calls({});
  const std::uint64_t id = add(calls);
  PendingCall call = *calls.take(id, 1);
  CHECK(calls.add(call));
  CHECK(calls.count() == 1);
  call = *calls.take(id, 1);
  std::uint64_t other = 0;
  while (other < id + 64) {
    other = calls.next_id();
    if (other < id + 64) {
      calls.add(call_of(other));
      calls.take(other, 1);
    }
  }
  CHECK_FALSE(calls.add(call));
  CHECK(calls.count() == 1);
}

TEST_CASE("calls that time out are reported in the order of their deadlines") {
  Expiries expiries;
  PendingCalls calls(expiries.writer());
  const base::TimePoint now = base::system_clock().now();
  const std::uint64_t late = add(calls, 1, now - milliseconds(1)), early = add(calls, 1, now - milliseconds(3));
  const std::uint64_t middle = add(calls, 1, now - milliseconds(2)), never = add(calls, 1);
  const std::uint64_t later = add(calls, 1, now + std::chrono::hours(1));
  calls.watch_timeouts(now - milliseconds(3));
  CHECK(expiries.wait_for(3) == std::vector{early, middle, late});
  CHECK(calls.count() == 2);
  CHECK(calls.take(never, 1));
  CHECK(calls.take(later, 1));
}

TEST_CASE("a deadline that is earlier than the others is not missed") {
  Expiries expiries;
  PendingCalls calls(expiries.writer());
  const base::TimePoint far = in(std::chrono::hours(1));
  add(calls, 1, far);
  calls.watch_timeouts(far);
  const base::TimePoint near = in(milliseconds(20));
  const std::uint64_t first = add(calls, 1, near);
  calls.watch_timeouts(near);
  CHECK(expiries.wait_for(1) == std::vector{first});
  CHECK(base::system_clock().now() >= near);
  const base::TimePoint next = in(milliseconds(1));
  const std::uint64_t second = add(calls, 1, next);
  calls.watch_timeouts(next);
  CHECK(expiries.wait_for(2) == std::vector{first, second});
}

TEST_CASE("a call that was answered in time does not expire, and others do") {
  Expiries expiries;
  PendingCalls calls(expiries.writer());
  const base::TimePoint deadline = in(milliseconds(10));
  const std::uint64_t answered = add(calls, 1, deadline), other = add(calls, 1, deadline + milliseconds(10));
  CHECK(calls.take(answered, 1));
  calls.watch_timeouts(deadline);
  CHECK(expiries.wait_for(1) == std::vector{other});
  calls.stop();
  calls.stop();
  calls.watch_timeouts(deadline);
}

TEST_CASE("calls beyond the limit are refused") {
  PendingCalls calls({});
  for (int i = 0; i < 1 << 20; ++i) calls.next_id();
  const Error error = testing::error_of([&] { calls.next_id(); });
  CHECK(error.kind() == ErrorKind::Overloaded);
  CHECK(error.text() ==
        "too many calls wait for their answers: 1048576 at the same time; wait for some before you make more");
}

TEST_CASE("the load of a worker is counted until its calls are taken, expire or are dropped") {
  PendingCalls calls({});
  const auto begin = [&](std::uint64_t bytes, WorkerId peer = 1) {
    PendingCalls::Load load{peer, bytes, 100};
    return calls.next_id(load);
  };
  const std::uint64_t first = begin(60), second = begin(40);
  CHECK(calls.add(call_of(first)));
  CHECK(begin(1) == 0);
  CHECK(begin(100, 2) != 0);
  calls.drop(second);
  calls.drop(second);
  CHECK(begin(41) == 0);
  CHECK(calls.add(call_of(begin(40))));
  PendingCall again = *calls.take(first, 1);
  CHECK(calls.add(again));
  CHECK(begin(1) == 0);
  CHECK(take_all(calls, WorkerKey(1)).size() == 2);
  CHECK(begin(1000) != 0);
  CHECK(begin(1) == 0);
}

std::shared_ptr<CallContext> context(WorkerId caller, std::uint64_t id) {
  return std::make_shared<CallContext>(WorkerInfo("worker" + std::to_string(caller), caller), id, "f", core::kForever);
}

TEST_CASE("running calls that take too much memory together are refused, and a single one is not") {
  RunningCalls calls(100);
  const auto one = context(1, 1), two = context(1, 2), three = context(2, 1);
  calls.add(one, 200);
  CHECK(testing::error_of([&] { calls.add(two, 1); }).kind() == ErrorKind::Overloaded);
  calls.remove(*one);
  calls.add(two, 30);
  calls.add(two, 30);  // counted once
  calls.add(three, 70);
  const Error error = testing::error_of([&] { calls.add(one, 1); });
  CHECK(error.text() ==
        "too much is to be done for others: 2 calls of 100 bytes, of 100, and there is no room for 1 more");
  calls.remove(*two);
  calls.add(one, 30);
  CHECK(calls.count() == 2);
}

TEST_CASE("a cancellation reaches the call of its caller, and no other") {
  RunningCalls calls;
  const auto one = context(1, 7), two = context(2, 7), three = context(1, 8);
  for (const auto& each : {one, two, three}) calls.add(each, 1);
  CHECK(calls.count() == 3);
  calls.cancel(1, 7);
  calls.cancel(3, 7);
  CHECK(one->is_cancelled());
  CHECK_FALSE(two->is_cancelled());
  CHECK_FALSE(three->is_cancelled());
  calls.remove(*one);
  calls.cancel_all(1);
  CHECK(three->is_cancelled());
  CHECK_FALSE(two->is_cancelled());
  CHECK(calls.list(1).size() == 1);
  CHECK(calls.list(9).size() == 2);
}

TEST_CASE("a number that a caller uses twice ends with the first call that had it") {
  RunningCalls calls;
  const auto first = context(1, 7), second = context(1, 7);
  calls.add(first, 1);
  calls.add(second, 1);
  calls.remove(*second);
  CHECK(calls.count() == 1);
  calls.cancel(1, 7);
  CHECK(first->is_cancelled());
  calls.remove(*first);
  CHECK(calls.count() == 0);
}

}  // namespace
}  // namespace distrun::rpc

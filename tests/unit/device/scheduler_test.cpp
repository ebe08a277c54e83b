#include <distrun/runtime/device/drivers/virtual/scheduler.hpp>

#include <atomic>
#include <future>

#include <catch2/catch.hpp>

#include "support/no_threads.hpp"

namespace distrun::device::virtual_gpu {
namespace {

constexpr StreamRef kFirst{0, StreamId{1}};
constexpr StreamRef kSecond{0, StreamId{2}};

struct Streams {
  explicit Streams(std::uint64_t seed = 1) : scheduler(seed) {
    for (const StreamRef stream : {kFirst, kSecond}) scheduler.open(stream, Priority::Normal);
  }
  void call(StreamRef stream, std::function<void()> body, Work::Kind kind = Work::Kind::Host) {
    Work work;
    work.kind = kind;
    work.body = std::move(body);
    scheduler.push(stream, std::move(work));
  }
  void busy(StreamRef stream, base::Nanoseconds length) {
    Work work;
    work.kind = Work::Kind::Busy;
    work.length = length;
    scheduler.push(stream, std::move(work));
  }
  std::shared_ptr<Point> record(StreamRef stream) {
    Work work;
    work.kind = Work::Kind::Record;
    work.point = std::make_shared<Point>();
    auto point = work.point;
    scheduler.push(stream, std::move(work));
    return point;
  }
  void wait(StreamRef stream, std::shared_ptr<Point> point) {
    Work work;
    work.kind = Work::Kind::Wait;
    work.point = std::move(point);
    scheduler.push(stream, std::move(work));
  }

  Scheduler scheduler;
};

TEST_CASE("streams that wait for each other in turn make progress, for any seed") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Streams streams(seed);
    std::vector<int> order;
    for (int i = 0; i < 10; ++i) {
      const StreamRef here = i % 2 == 0 ? kFirst : kSecond;
      const StreamRef there = i % 2 == 0 ? kSecond : kFirst;
      streams.call(
          here, [&order, i] { order.push_back(i); }, Work::Kind::Kernel);
      streams.wait(there, streams.record(here));
    }
    streams.scheduler.synchronize(kSecond);
    streams.scheduler.synchronize(kFirst);
    CHECK(order == std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  }
}

TEST_CASE("busy streams take no thread, and are busy concurrently") {
  Streams streams;
  std::vector<StreamRef> many;
  for (std::uint64_t i = 10; i < 60; ++i) {
    many.push_back({0, StreamId{i}});
    streams.scheduler.open(many.back(), Priority::Normal);
    streams.busy(many.back(), std::chrono::milliseconds(20));
  }
  const base::TimePoint begin = base::system_clock().now();
  streams.scheduler.synchronize_device(0);
  CHECK(base::system_clock().now() - begin < std::chrono::milliseconds(50 * 20));  // sequentially
}

TEST_CASE("callbacks that wait for other streams do not keep those from running") {
  Streams streams;
  std::vector<StreamRef> many;
  std::promise<void> go;
  const std::shared_future<void> wait = go.get_future().share();
  for (std::uint64_t i = 10; i < 26; ++i) {
    many.push_back({0, StreamId{i}});
    streams.scheduler.open(many.back(), Priority::Normal);
    streams.call(many.back(), [wait] { wait.wait(); });
  }
  streams.call(kFirst, [&go] { go.set_value(); });
  streams.scheduler.synchronize_device(0);
}

TEST_CASE("where no more threads can be started the existing thread does the work, also behind callbacks") {
  Streams streams;
  streams.call(kFirst, [] {});  // starts a thread
  streams.scheduler.synchronize(kFirst);
  const test::NoThreads none;
  std::promise<void> both_are_there;
  std::atomic<bool> ran{false};
  streams.call(kFirst, [&both_are_there] { both_are_there.get_future().wait(); });
  streams.call(kSecond, [&ran] { ran = true; });
  both_are_there.set_value();
  streams.scheduler.synchronize_device(0);
  CHECK(ran);
}

TEST_CASE("where no thread can be started at all, a stream refuses work and keeps none of it") {
  Streams streams;
  {
    const test::NoThreads none;
    CHECK_THROWS_WITH(streams.call(kFirst, [] {}), Catch::Contains("cannot start thread"));
  }
  CHECK(streams.scheduler.is_idle(kFirst));
  std::atomic<bool> ran{false};
  streams.call(kFirst, [&ran] { ran = true; });
  streams.scheduler.synchronize(kFirst);
  CHECK(ran);
}

TEST_CASE("objects owned by a piece of work may use the streams when they are released") {
  Streams streams;
  std::promise<void> released;
  const auto let_go = [&](int* owned) {
    delete owned;
    streams.record(kSecond);
    released.set_value();
  };
  streams.call(kFirst, [owned = std::shared_ptr<int>(new int, let_go)] {});
  released.get_future().wait();
  streams.scheduler.synchronize(kSecond);
}

TEST_CASE(
    "after an error a stream runs no more work, and a stream that waits for it continues and gets the error once") {
  Streams streams;
  std::atomic<bool> ran{false}, went_on{false};
  streams.call(kFirst, [] { throw std::runtime_error("broken"); });
  streams.call(kFirst, [&ran] { ran = true; });
  streams.busy(kFirst, std::chrono::hours(1));
  const auto point = streams.record(kFirst);
  streams.wait(kSecond, point);
  streams.call(kSecond, [&went_on] { went_on = true; });
  CHECK_THROWS_WITH(streams.scheduler.synchronize(kSecond), Catch::Contains("cuda:0 stream 1: broken"));
  CHECK(went_on);
  streams.scheduler.synchronize(kSecond);
  CHECK_THROWS_WITH(streams.scheduler.synchronize(point), Catch::Contains("broken"));
  CHECK_THROWS_WITH(streams.scheduler.is_idle(kFirst), Catch::Contains("cuda:0 stream 1: broken"));
  CHECK_FALSE(ran);
}

TEST_CASE("a stream that waits for another process continues when that process has arrived") {
  Streams streams;
  std::atomic<bool> arrived{false};
  std::atomic<bool> ran{false};
  auto point = std::make_shared<Point>();
  point->has_arrived = [&arrived] { return arrived.load(); };
  streams.wait(kFirst, point);
  streams.call(kFirst, [&ran] { ran = true; });
  CHECK_FALSE(streams.scheduler.is_idle(kFirst));
  CHECK_FALSE(ran);
  arrived = true;
  streams.scheduler.synchronize(point);
  streams.scheduler.synchronize(kFirst);
  CHECK(ran);
}

TEST_CASE("a process that has ended does not keep a stream waiting") {
  Streams streams;
  auto point = std::make_shared<Point>();
  point->has_arrived = [to = point.get()] {
    to->error = base::Error(ErrorKind::Disconnected, "it has ended");
    return true;
  };
  streams.wait(kFirst, point);
  CHECK_THROWS_WITH(streams.scheduler.synchronize(kFirst), "it has ended");
  streams.scheduler.synchronize(kFirst);
}

TEST_CASE("a stream that does not exist is refused") {
  Streams streams;
  CHECK_THROWS_WITH(streams.scheduler.synchronize({3, StreamId{9}}), "cuda:3 stream 9 does not exist or was destroyed");
  streams.scheduler.close(kFirst);
  CHECK_THROWS_AS(streams.record(kFirst), Error);
}

TEST_CASE("work that has not begun is dropped with the scheduler") {
  std::promise<void> begun;
  std::promise<void> go;
  std::atomic<bool> ran{false};
  {
    Streams streams;
    streams.call(kFirst, [&] {
      begun.set_value();
      go.get_future().wait();
    });
    streams.busy(kSecond, std::chrono::hours(1));
    streams.call(kSecond, [&ran] { ran = true; });
    begun.get_future().wait();
    go.set_value();
  }
  CHECK_FALSE(ran);
}

}  // namespace
}  // namespace distrun::device::virtual_gpu

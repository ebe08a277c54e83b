// Streams, events and host callbacks.
#include "driver_contract.hpp"

#include <atomic>
#include <future>

#include <distrun/common/base/error.hpp>

namespace distrun::device {
namespace {

constexpr std::uint64_t kAWhile = 2'000'000;  // cycles: some ms on any device

TEST_CASE("a stream does its work in order") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  const OwnStream stream(driver);
  const Buffer there(driver, 0, 4);
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) {
    driver.fill(stream, there.data(), i, 4);
    driver.call_host(stream, [&order, i] { order.push_back(i); });
  }
  driver.synchronize(stream);
  REQUIRE(order.size() == 100);
  for (int i = 0; i < 100; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
  CHECK(read(driver, stream, there.data(), 1)[0] == 99 * 0x01010101);
}

TEST_CASE("a stream is idle once its work is done") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  const OwnStream stream(driver, 0, Priority::High);
  CHECK(driver.is_idle(stream));
  driver.busy(stream, 1000);
  driver.synchronize(stream);
  CHECK(driver.is_idle(stream));
}

TEST_CASE("work is queued on a stream without waiting for it") {
  const Subject subject = subject_with_driver();
  testing::skip_case_if(!subject.is_asynchronous, "its work is done when a call returns");
  Driver& driver = *subject.driver;
  const OwnStream stream(driver);
  std::promise<void> go;
  driver.call_host(stream, [wait = go.get_future().share()] { wait.wait(); });
  driver.busy(stream, 1000);
  CHECK_FALSE(driver.is_idle(stream));
  const OwnEvent event(driver);
  driver.record(stream, event);
  CHECK_FALSE(driver.is_done(event));
  go.set_value();
  driver.synchronize(stream);
  CHECK(driver.is_done(event));
}

TEST_CASE("synchronizing a device waits for all of its streams") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  const OwnStream one(driver);
  const OwnStream other(driver);
  std::atomic<int> done{0};
  for (const StreamRef stream : {StreamRef(one), StreamRef(other), kDefault}) {
    driver.busy(stream, kAWhile);
    driver.call_host(stream, [&done] { ++done; });
  }
  driver.synchronize_device(0);
  CHECK(done == 3);
}

TEST_CASE("work on a stream that is destroyed is still done") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  std::promise<void> done;
  {
    const OwnStream stream(driver);
    driver.busy(stream, kAWhile);
    driver.call_host(stream, [&done] { done.set_value(); });
  }
  done.get_future().wait();
}

TEST_CASE("a device waits for the remaining work of a destroyed stream") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  std::atomic<bool> is_done{false};
  {
    const OwnStream stream(driver);
    driver.busy(stream, kAWhile);
    driver.call_host(stream, [&is_done] { is_done = true; });
  }
  driver.synchronize_device(0);
  CHECK(is_done);
}

TEST_CASE("memory is freed after the remaining work of a destroyed stream") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  std::atomic<bool> is_done{false};
  void* const memory = driver.allocate(0, 1 << 20);
  {
    const OwnStream stream(driver);
    driver.busy(stream, kAWhile);
    driver.fill(stream, memory, 1, 1 << 20);
    driver.call_host(stream, [&is_done] { is_done = true; });
  }
  driver.free(0, memory);
  CHECK(is_done);
}

TEST_CASE("a stream waits for an event of another") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  const OwnStream first(driver);
  const OwnStream second(driver);
  const OwnEvent event(driver);
  std::vector<int> order;
  driver.busy(first, kAWhile);
  driver.call_host(first, [&order] { order.push_back(1); });
  driver.record(first, event);
  driver.wait(second, event);
  driver.call_host(second, [&order] { order.push_back(2); });
  driver.synchronize(second);
  CHECK(order == std::vector{1, 2});
}

TEST_CASE("a stream waits for an event of another device") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  testing::skip_case_if(driver.device_count() < 2, "there is one device");
  const OwnEvent event(driver);
  std::vector<int> order;
  driver.busy(kDefault, kAWhile);
  driver.call_host(kDefault, [&order] { order.push_back(1); });
  driver.record(kDefault, event);
  driver.wait({1, {}}, event);
  driver.call_host({1, {}}, [&order] { order.push_back(2); });
  driver.synchronize({1, {}});
  CHECK(order == std::vector{1, 2});
}

TEST_CASE("an event stands for the work on the stream when it was last recorded") {
  const Subject subject = subject_with_driver();
  testing::skip_case_if(!subject.is_asynchronous, "its work is done when a call returns");
  Driver& driver = *subject.driver;
  const OwnStream stream(driver);
  const OwnStream waiter(driver);
  const OwnEvent event(driver);
  std::promise<void> go;
  driver.record(stream, event);
  driver.wait(waiter, event);
  driver.call_host(stream, [wait = go.get_future().share()] { wait.wait(); });
  driver.record(stream, event);
  driver.synchronize(waiter);  // waits for the first recording
  CHECK_FALSE(driver.is_done(event));
  go.set_value();
  driver.synchronize(event);
  CHECK(driver.is_done(event));
}

TEST_CASE("an event that was never recorded is done") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  const OwnEvent event(driver);
  CHECK(driver.is_done(event));
  driver.synchronize(event);
  driver.wait(kDefault, event);
  driver.synchronize(kDefault);
}

TEST_CASE("events measure the time between them") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  const OwnEvent begin(driver, {.timing = true});
  const OwnEvent end(driver, {.timing = true});
  driver.record(kDefault, begin);
  driver.busy(kDefault, kAWhile);
  driver.record(kDefault, end);
  driver.synchronize(end);
  // Half of it, for clocks that currently exceed their usual rate.
  const double expected_ns = static_cast<double>(kAWhile) * 1e9 / static_cast<double>(driver.properties(0).clock_hz);
  CHECK(static_cast<double>(driver.elapsed(begin, end).count()) > expected_ns / 2);
}

TEST_CASE("events without timing are refused with the reason") {
  const Subject subject = subject_with_driver();
  Driver& driver = *subject.driver;
  const OwnEvent timed(driver, {.timing = true});
  const OwnEvent fresh(driver, {.timing = true});
  const OwnEvent plain(driver);
  driver.record(kDefault, timed);
  driver.record(kDefault, plain);
  driver.synchronize(kDefault);
  CHECK_THROWS_WITH(driver.elapsed(timed, plain), Catch::Contains("timing"));
  CHECK_THROWS_WITH(driver.elapsed(timed, fresh), Catch::Contains("recorded"));
}

TEST_CASE("an error on a stream stays on the stream") {
  const Subject subject = subject_with_driver();
  testing::skip_case_if(!subject.is_asynchronous, "its work is done when a call returns");
  Driver& driver = *subject.driver;
  const OwnStream bad(driver);
  const OwnStream good(driver);
  bool went_on = false;
  driver.call_host(bad, [] { throw Error(ErrorKind::Failed, "a broken callback"); });
  driver.call_host(bad, [&went_on] { went_on = true; });
  CHECK_THROWS_WITH(driver.synchronize(bad), Catch::Contains("a broken callback") && Catch::Contains("cuda:0 stream"));
  CHECK_THROWS_WITH(driver.synchronize(bad), Catch::Contains("a broken callback"));
  CHECK_FALSE(went_on);
  driver.busy(good, 1);
  driver.synchronize(good);
}

TEST_CASE("host memory is not exported") {
  const Subject subject = subject_with_driver();
  int here = 0;
  std::size_t offset = 0;
  CHECK_THROWS_AS(subject.driver->export_memory(&here, &offset), Error);
}

TEST_CASE("a handle is for other processes only") {
  const Subject subject = subject_with_driver();
  testing::skip_case_if(!subject.shares_with_processes, "it has no handles for other processes");
  Driver& driver = *subject.driver;
  const Buffer there(driver, 0, 4096);
  std::size_t offset = 0;
  const IpcHandle handle = driver.export_memory(static_cast<std::byte*>(there.data()) + 128, &offset);
  CHECK(offset == 128);
  CHECK(handle.bytes.size() <= 256);
  CHECK_THROWS_AS(driver.import_memory(0, handle), Error);
}

}  // namespace
}  // namespace distrun::device

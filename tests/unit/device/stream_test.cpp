// Current devices and streams, guards, events and memory, on the process's driver: two virtual devices.
#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/device/stream_pool.hpp>

#include <set>

#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/device/drivers/virtual/virtual_driver.hpp>
#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/device/memory/allocator.hpp>

#include "unit/core/fake_rank_line.hpp"

namespace distrun::device {
namespace {

void use_two_virtual_devices() {
  static const bool done = [] {
    GpuSettings settings;
    settings.driver = "virtual";
    settings.devices = 2;
    choose_gpu_driver(settings);
    return true;
  }();
  static_cast<void>(done);
  REQUIRE(gpu_count() == 2);
}

TEST_CASE("devices have names") {
  use_two_virtual_devices();
  CHECK(to_string(kCpu) == "cpu");
  CHECK(to_string(cuda(3)) == "cuda:3");
  CHECK(parse_device("cpu") == kCpu);
  CHECK(parse_device("cuda:12") == cuda(12));
  const DeviceGuard guard(cuda(1));
  CHECK(parse_device("cuda") == cuda(1));
  for (const char* wrong : {"", "gpu", "cuda:", "cuda:-1", "cuda:1x", "cuda:99999", "cpu:1"}) {
    CHECK_THROWS_WITH(parse_device(wrong), Catch::Contains("is not a device"));
  }
}

TEST_CASE("the driver is chosen once, and must exist") {
  CHECK_THROWS_WITH(choose_gpu_driver({.driver = "magic"}), Catch::Contains("expected auto, cuda, virtual or none"));
  CHECK_THROWS_WITH(choose_gpu_driver({.driver = "virtual"}), Catch::Contains("at least 1"));
  CHECK_THROWS_WITH(choose_gpu_driver({.driver = "virtual", .devices = 1000}), Catch::Contains("0 to 64"));
  CHECK_THROWS_WITH(use_gpu_driver(nullptr), Catch::Contains("the driver is null"));
  CHECK_THROWS_WITH(use_gpu_driver(make_virtual_driver({.devices = 65})), Catch::Contains("the limit is 64"));
  use_two_virtual_devices();
  CHECK_THROWS_WITH(choose_gpu_driver({.driver = "none"}), Catch::Contains("before its first use"));
  CHECK_THROWS_WITH(use_gpu_driver(make_virtual_driver({})), Catch::Contains("before its first use"));
  CHECK(why_no_gpu().empty());
}

TEST_CASE("an unknown device is refused with a list of the existing ones") {
  use_two_virtual_devices();
  CHECK_THROWS_WITH(set_current_device(2), "cuda:2 does not exist: there are cuda:0 to cuda:1");
  CHECK_THROWS_WITH(allocate(cuda(7), 0), Catch::Contains("cuda:7 does not exist"));
  CHECK_THROWS_AS(driver_of(cuda(-1)), Error);
}

TEST_CASE("guards restore the previous values") {
  use_two_virtual_devices();
  const Stream stream = make_stream(cuda(1));
  CHECK(current_device() == 0);
  {
    const StreamGuard guard(stream);
    CHECK(current_device() == 1);
    CHECK(current_stream(cuda(1)) == stream);
    CHECK(current_stream(cuda(0)) == default_stream(cuda(0)));
    const DeviceGuard other(cuda(0));
    CHECK(current_device() == 0);
    const DeviceGuard cpu(kCpu);
    CHECK(current_device() == 0);
  }
  CHECK(current_device() == 0);
  CHECK(current_stream(cuda(1)) == default_stream(cuda(1)));
  destroy_stream(stream);
}

TEST_CASE("streams belong to the thread, and travel with its state") {
  use_two_virtual_devices();
  const StreamGuard guard(stream_from_pool(cuda(1)));
  const core::ThreadState here = core::thread_state();
  Stream fresh;
  Stream carried;
  int device = -1;
  base::Thread("other", [&] {
    fresh = current_stream(cuda(1));
    const core::ThreadStateGuard travelled(here);
    carried = current_stream(cuda(1));
    device = current_device();
  }).join();
  CHECK(fresh == default_stream(cuda(1)));
  CHECK(carried == current_stream(cuda(1)));
  CHECK(device == 1);
}

TEST_CASE("a pool has 32 streams of each priority") {
  use_two_virtual_devices();
  std::set<Stream> normal;
  std::set<Stream> high;
  for (int i = 0; i < 100; ++i) {
    normal.insert(stream_from_pool(cuda(0)));
    high.insert(stream_from_pool(cuda(0), Priority::High));
  }
  CHECK(normal.size() == 32);
  CHECK(high.size() == 32);
  for (const Stream& stream : normal) CHECK_FALSE(high.contains(stream));
}

TEST_CASE("a stream of a pool that can no longer be used is replaced") {
  use_two_virtual_devices();
  const Stream gone = stream_from_pool(cuda(0));
  replace_in_pool(gone);
  replace_in_pool(default_stream(cuda(0)));
  std::set<Stream> all;
  for (int i = 0; i < 100; ++i) all.insert(stream_from_pool(cuda(0)));
  CHECK(all.size() == 32);
  CHECK_FALSE(all.contains(gone));
  gone.synchronize();  // existing users keep it
}

TEST_CASE("an event belongs to the device on which it is recorded first") {
  use_two_virtual_devices();
  Event event;
  CHECK(event.is_done());
  event.synchronize();
  event.block(default_stream(cuda(1)));
  event.record();
  CHECK_THROWS_WITH(event.record(default_stream(cuda(1))), Catch::Contains("an event of cuda:0"));
  event.block(default_stream(cuda(1)));
  event.synchronize();
  CHECK(event.is_done());
  Event moved = std::move(event);
  CHECK(moved.is_done());
  CHECK_THROWS_AS(moved.elapsed(Event()), Error);
}

TEST_CASE("an event that could not be recorded is unchanged") {
  use_two_virtual_devices();
  const Stream gone = make_stream(cuda(0));
  Event event;
  event.record(default_stream(cuda(0)));
  event.synchronize();
  destroy_stream(gone);
  CHECK_THROWS_WITH(event.record(gone), Catch::Contains("does not exist or was destroyed"));
  CHECK(event.is_done());
  event.synchronize();
}

TEST_CASE("memory of a device is ordered on its current stream") {
  use_two_virtual_devices();
  const auto memory = allocate(cuda(1), 100);
  CHECK(memory->device() == cuda(1));
  CHECK(memory->bytes() == 100);
  CHECK(gpu_driver().device_of(memory->data()) == 1);
  CHECK(allocate(cuda(0), 0)->data() == nullptr);
  CHECK(allocator_statistics(cuda(1)).bytes_in_use >= 512);
  const auto pinned = allocate_pinned(10);
  pinned->record_stream(default_stream(cuda(0)));
  empty_cache(cuda(1));
  char text[200];
  const std::string name(text, gpu_driver().describe(memory->data(), text, sizeof text));
  CHECK_THAT(name, Catch::Contains("device memory of cuda:1 (allocated at") && Catch::Contains("stream_test.cpp:"));
}

TEST_CASE("memory of the host is aligned, of any size") {
  for (const std::size_t bytes : {1u, 100u, 100'000u, 9'000'000u}) {
    const auto memory = allocate(kCpu, bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(memory->data()) % 64 == 0);
    static_cast<char*>(memory->data())[bytes - 1] = 1;
  }
  CHECK(allocate(kCpu, 0)->data() == nullptr);
  CHECK_THROWS_WITH(allocate(kCpu, ~std::size_t{0} - 10), Catch::Contains("in one piece"));
}

TEST_CASE("waits of the host are shown on the board") {
  use_two_virtual_devices();
  const testing::FakeRank rank;
  default_stream(cuda(1)).synchronize();
  synchronize(cuda(0));
  Event event;
  event.record(default_stream(cuda(0)));
  event.synchronize();
  default_stream(kCpu).synchronize();  // nothing to wait for
  CHECK(rank.line.names == std::vector<std::string>{"cuda:1 default stream", "cuda:0", "an event of cuda:0"});
  CHECK(rank.line.ended == std::vector{5, 5, 5});
}

}  // namespace
}  // namespace distrun::device

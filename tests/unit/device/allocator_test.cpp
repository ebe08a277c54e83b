#include <distrun/runtime/device/memory/caching_allocator.hpp>
#include <distrun/runtime/device/stream.hpp>

#include <atomic>

#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/runtime/device/drivers/virtual/virtual_driver.hpp>

namespace distrun::device {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr StreamId kDefault{};

struct World {
  explicit World(std::size_t bytes = 128 * kMiB) {
    VirtualSettings settings;
    settings.memory_bytes = bytes;
    driver = make_virtual_driver(settings);
    allocator = std::make_unique<CachingAllocator>(*driver, 0);
  }
  std::unique_ptr<Memory> take(std::size_t bytes, StreamId stream = kDefault) {
    return allocator->allocate(bytes, stream, base::Location::here());
  }

  std::unique_ptr<Driver> driver;
  std::unique_ptr<CachingAllocator> allocator;
};

TEST_CASE("freed memory is handed out again on its stream, and on no other") {
  World world;
  const StreamId other = world.driver->make_stream(0, Priority::Normal);
  void* const first = world.take(1000)->data();
  CHECK(world.take(1000, other)->data() != first);
  CHECK(world.take(900)->data() == first);
  const AllocatorStatistics statistics = world.allocator->statistics();
  CHECK(statistics.allocations == 3);
  CHECK(statistics.reused == 1);
  CHECK(statistics.frees == 3);
  CHECK(statistics.driver_allocations == 2);
  CHECK(statistics.bytes_in_use == 0);
  CHECK(statistics.bytes_in_use_peak == 1024);
  CHECK(statistics.bytes_cached == 4 * kMiB);
}

TEST_CASE("a block is cut, and becomes whole again") {
  World world;
  auto first = world.take(600);
  auto second = world.take(600);
  auto third = world.take(600);
  CHECK(static_cast<std::byte*>(second->data()) == static_cast<std::byte*>(first->data()) + 1024);
  void* const begin = first->data();
  second.reset();
  first.reset();
  auto both = world.take(2048);
  CHECK(both->data() == begin);
  both.reset();
  third.reset();
  CHECK(world.take(kMiB)->data() == begin);
  CHECK(world.allocator->statistics().driver_allocations == 1);
}

TEST_CASE("large requests are not served from small segments") {
  World world;
  const auto small = world.take(1000);
  const auto large = world.take(3 * kMiB);
  const auto next = world.take(5 * kMiB);  // the rest of a segment of 20 MiB
  CHECK(world.allocator->statistics().driver_allocations == 2);
  CHECK(static_cast<std::byte*>(next->data()) == static_cast<std::byte*>(large->data()) + 3 * kMiB);
}

TEST_CASE("memory that another stream uses waits for that stream") {
  World world;
  const StreamId other = world.driver->make_stream(0, Priority::Normal);
  const StreamRef user{0, other};
  auto memory = world.take(1000);
  void* const begin = memory->data();
  world.driver->busy(user, 50'000'000);
  memory->record_stream(Stream(cuda(0), other));
  memory->record_stream(Stream(cuda(0), kDefault));  // the memory's own stream: nothing to wait for
  memory.reset();
  CHECK(world.allocator->statistics().bytes_waiting == 1024);
  CHECK(world.take(1000)->data() != begin);
  world.driver->synchronize(user);
  auto again = world.take(1000);
  auto more = world.take(1000);
  CHECK((again->data() == begin || more->data() == begin));
  CHECK(world.allocator->statistics().bytes_waiting == 0);
}

TEST_CASE("memory used by a destroyed stream waits for the remaining work of that stream") {
  World world;
  const StreamRef user{0, world.driver->make_stream(0, Priority::Normal)};
  std::atomic<bool> is_done{false};
  auto memory = world.take(1000);
  world.driver->busy(user, 20'000'000);
  world.driver->call_host(user, [&is_done] { is_done = true; });
  memory->record_stream(Stream(cuda(0), user.id));
  world.driver->destroy_stream(user);
  memory.reset();
  world.take(1000);
  CHECK(is_done);
}

TEST_CASE("a full device frees cached memory, and waits for memory in use by streams") {
  World world(64 * kMiB);
  const StreamId other = world.driver->make_stream(0, Priority::Normal);
  auto used = world.take(20 * kMiB);
  world.driver->busy({0, other}, 5'000'000);
  used->record_stream(Stream(cuda(0), other));
  used.reset();
  world.take(30 * kMiB);  // cached afterwards
  const auto all = world.take(60 * kMiB);
  const AllocatorStatistics statistics = world.allocator->statistics();
  CHECK(statistics.retries == 1);
  CHECK(statistics.bytes_cached == 0);
  CHECK(statistics.bytes_in_use == 60 * kMiB);
}

TEST_CASE("an error of a full device lists the users of its memory") {
  World world(64 * kMiB);
  const auto used = world.take(40 * kMiB);
  try {
    world.take(30 * kMiB);
    FAIL("it was given");
  } catch (const Error& error) {
    CHECK(error.type() == "OutOfMemoryError");
    CHECK(error.text() ==
          "cuda:0 is out of memory: 30.0 MiB are requested; of 64.0 MiB in all 24.0 MiB are free. Of this process's, "
          "40.0 MiB are in use, 0 bytes are freed but still used by streams, and 0 bytes are cached");
  }
  CHECK_THROWS_AS(world.take(~std::size_t{0} - 100), Error);
  world.take(20 * kMiB);  // allocation still works
}

TEST_CASE("an emptied cache keeps memory that is in use") {
  World world;
  const auto kept = world.take(1000);
  world.take(30 * kMiB);
  world.allocator->empty_cache();
  const AllocatorStatistics statistics = world.allocator->statistics();
  CHECK(statistics.bytes_in_use == 1024);
  CHECK(statistics.bytes_cached == 2 * kMiB - 1024);
  CHECK(world.driver->free_bytes(0) == 126 * kMiB);
  world.allocator->reset_peak();
  CHECK(world.allocator->statistics().bytes_in_use_peak == 1024);
}

TEST_CASE("blocks in use never overlap, through any sequence of allocations") {
  World world;
  const StreamId streams[] = {kDefault, world.driver->make_stream(0, Priority::Normal)};
  std::vector<std::unique_ptr<Memory>> used;
  std::map<std::byte*, std::byte*> ranges;
  base::Rng rng(5);
  for (int i = 0; i < 5000; ++i) {
    if (used.size() > 40 || (rng.below(2) == 0 && !used.empty())) {
      std::swap(used[rng.below(used.size())], used.back());
      ranges.erase(static_cast<std::byte*>(used.back()->data()));
      used.pop_back();
      continue;
    }
    const StreamId stream = streams[rng.below(2)];
    used.push_back(world.take(1 + rng.below(rng.below(4) == 0 ? 2 * kMiB : 5000), stream));
    if (rng.below(4) == 0) used.back()->record_stream(Stream(cuda(0), streams[rng.below(2)]));
    auto* const begin = static_cast<std::byte*>(used.back()->data());
    const auto next = ranges.lower_bound(begin);
    REQUIRE((next == ranges.end() || begin + used.back()->bytes() <= next->first));
    REQUIRE((next == ranges.begin() || std::prev(next)->second <= begin));
    ranges[begin] = begin + used.back()->bytes();
  }
  used.clear();
  world.driver->synchronize_device(0);
  world.allocator->empty_cache();
  CHECK(world.driver->free_bytes(0) == 128 * kMiB);
}

}  // namespace
}  // namespace distrun::device

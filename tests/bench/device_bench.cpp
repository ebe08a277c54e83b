// Memory, kernels and events of virtual devices, and small blocks of host memory.
#include <benchmark/benchmark.h>

#include <distrun/runtime/device/drivers/virtual/virtual_driver.hpp>
#include <distrun/runtime/device/memory/allocator.hpp>
#include <distrun/runtime/device/memory/caching_allocator.hpp>

namespace distrun::device {
namespace {

constexpr StreamRef kDefault{};

std::unique_ptr<Driver> make_driver(bool check_order = false) {
  VirtualSettings settings;
  settings.check_order = check_order;
  return make_virtual_driver(settings);
}

// Allocates and frees a cached block.
void allocation_from_the_cache(benchmark::State& state) {
  const std::unique_ptr<Driver> driver = make_driver();
  CachingAllocator allocator(*driver, 0);
  for (auto each : state) {
    benchmark::DoNotOptimize(allocator.allocate(static_cast<std::size_t>(state.range(0)), StreamId{}, {}));
  }
}
BENCHMARK(allocation_from_the_cache)->Arg(1000)->Arg(1 << 22);

void allocation_on_the_host(benchmark::State& state) {
  for (auto each : state) benchmark::DoNotOptimize(allocate(kCpu, static_cast<std::size_t>(state.range(0))));
}
BENCHMARK(allocation_on_the_host)->Arg(36)->Arg(1 << 22);

Kernel small_kernel(void* memory) {
  Kernel kernel;
  kernel.name = "nothing";
  kernel.regions = {flat_region(memory, 1000, Access::Write)};
  kernel.body = [](const std::vector<Region>&) {};
  return kernel;
}

// The host's cost of queueing a kernel; with `check` 1 stream order is checked.
void launch(benchmark::State& state) {
  const std::unique_ptr<Driver> driver = make_driver(state.range(0) != 0);
  void* const memory = driver->allocate(0, 1000);
  int put = 0;
  for (auto each : state) {
    driver->launch(kDefault, small_kernel(memory));
    if (++put % 1000 != 0) continue;
    state.PauseTiming();
    driver->synchronize(kDefault);
    state.ResumeTiming();
  }
  driver->synchronize(kDefault);
}
BENCHMARK(launch)->ArgName("check")->Arg(0)->Arg(1);

void launch_and_wait(benchmark::State& state) {
  const std::unique_ptr<Driver> driver = make_driver();
  void* const memory = driver->allocate(0, 1000);
  for (auto each : state) {
    driver->launch(kDefault, small_kernel(memory));
    driver->synchronize(kDefault);
  }
}
BENCHMARK(launch_and_wait);

// Records an event on an idle stream; another stream waits for it.
void record_and_wait(benchmark::State& state) {
  const std::unique_ptr<Driver> driver = make_driver(state.range(0) != 0);
  const StreamRef other{0, driver->make_stream(0, Priority::Normal)};
  const EventId event = driver->make_event(0, {});
  for (auto each : state) {
    driver->record(kDefault, event);
    driver->wait(other, event);
  }
  driver->synchronize(other);
}
BENCHMARK(record_and_wait)->ArgName("check")->Arg(0)->Arg(1);

}  // namespace
}  // namespace distrun::device

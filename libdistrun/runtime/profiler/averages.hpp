#pragma once
// The summary of a profile: events grouped by name, and the customary table.
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/runtime/profiler/event.hpp>

namespace distrun::profiler {

// Which events key_averages() counts together, besides those of one name, node and side of a call.
struct GroupBy {
  bool input_shapes = false;  // keep events with different inputs apart
};

// All events of one name, node and side of a call.
struct Average {
  std::string name;                                     // of the events
  std::vector<std::vector<std::int64_t>> input_shapes;  // only with GroupBy::input_shapes
  std::int32_t node = -1;                               // -1: without RPC
  bool is_remote = false;                               // of events at callees
  bool is_async = false;                                // at least one was
  std::uint64_t count = 0;                              // events
  // These are sums; "self" is without the events within. Asynchronous events have no CPU time: their threads did other
  // work meanwhile.
  base::Nanoseconds cpu_time{}, self_cpu_time{};
  base::Nanoseconds device_time{}, self_device_time{};
  std::int64_t cpu_memory = 0, self_cpu_memory = 0;        // bytes
  std::int64_t device_memory = 0, self_device_memory = 0;  // bytes

  // These divide by `count`, which must not be 0.
  base::Nanoseconds cpu_time_average() const noexcept { return cpu_time / static_cast<std::int64_t>(count); }
  base::Nanoseconds device_time_average() const noexcept { return device_time / static_cast<std::int64_t>(count); }
};
using Averages = std::vector<Average>;  // in the order in which the first of each began

// Groups events of the same name, node and side of a call.
Averages key_averages(const Events& events, GroupBy group = {});

// A column of table().
enum class SortBy : std::uint8_t { SelfCpuTime, CpuTime, DeviceTime, CpuMemory, Count, Name };

// Returns "Name, Self CPU %, Self CPU, CPU total %, CPU total, CPU time avg, # of Calls", with columns for CUDA,
// memory, nodes and shapes if they have content. Sorted in descending order; at most `lines` lines, 0: all.
std::string table(Averages averages, SortBy sort = SortBy::SelfCpuTime, std::size_t lines = 100);

}  // namespace distrun::profiler

#pragma once
// What a profile comes to: events of one name together, and the table that people of the field know.
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/runtime/profiler/event.hpp>

namespace distrun::profiler {

struct GroupBy {
  bool input_shapes = false;  // events of other inputs are others
};

struct Average {
  std::string name;
  std::vector<std::vector<std::int64_t>> input_shapes;  // with GroupBy::input_shapes
  std::int32_t node = -1;
  bool is_remote = false;
  bool is_async = false;
  std::uint64_t count = 0;
  // Sums. Asynchronous events have no CPU time of their own: their threads did something else meanwhile.
  base::Nanoseconds cpu_time{}, self_cpu_time{};
  base::Nanoseconds device_time{}, self_device_time{};
  std::int64_t cpu_memory = 0, self_cpu_memory = 0;
  std::int64_t device_memory = 0, self_device_memory = 0;

  base::Nanoseconds cpu_time_average() const noexcept { return cpu_time / static_cast<std::int64_t>(count); }
  base::Nanoseconds device_time_average() const noexcept { return device_time / static_cast<std::int64_t>(count); }
};
using Averages = std::vector<Average>;  // in the order in which the first of each began

// Of the same name, node and side of a call.
Averages key_averages(const Events& events, GroupBy group = {});

enum class SortBy : std::uint8_t { SelfCpuTime, CpuTime, DeviceTime, CpuMemory, Count, Name };

// "Name, Self CPU %, Self CPU, CPU total %, CPU total, CPU time avg, # of Calls", with columns for CUDA, memory, nodes
// and shapes where there is something to say in them. The largest first; at most so many lines, 0: all.
std::string table(Averages averages, SortBy sort = SortBy::SelfCpuTime, std::size_t lines = 100);

}  // namespace distrun::profiler

#pragma once
// An entry of a profile: a named piece of work with its begin, end, place and costs.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/base/clock.hpp>

namespace distrun::profiler {

// An operator's work on a GPU.
struct Kernel {
  std::string name;              // of the operator
  std::int32_t device = 0;       // number of the GPU
  base::Nanoseconds duration{};  // on the GPU
};

// A named piece of work: an operator, a node of a backward pass, a call, or a span of user code.
struct Event {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);  // no parent

  std::string name;            // "aten::add", or as a span names it
  base::TimePoint begin;       // of the monotonic clock
  base::TimePoint end;         // of the monotonic clock
  std::int32_t thread = 0;     // where it began: the kernel's thread number
  std::int32_t node = -1;      // the worker that it ran on; -1: without RPC
  bool is_remote = false;      // it ran at the callee of a call made under the profile
  bool is_async = false;       // its thread did other work meanwhile
  std::uint64_t sequence = 0;  // of an operator: that of the node that it creates; of a node: its own; of others: 0

  // Net bytes, including all events within; requires ProfileOptions::profile_memory.
  std::int64_t cpu_memory = 0, self_cpu_memory = 0;
  // Net bytes on GPUs, in the same way.
  std::int64_t device_memory = 0, self_device_memory = 0;
  // Requires record_shapes; an undefined input has no sizes.
  std::vector<std::vector<std::int64_t>> input_shapes;
  // Requires device_time; of operators and nodes.
  base::Nanoseconds device_time{}, self_device_time{};
  std::vector<Kernel> kernels;  // requires device_time
  // Additional data by name.
  std::vector<std::pair<std::string, std::string>> notes;

  // The index of the enclosing event in the list that events() returns; kNone: none.
  std::size_t parent = kNone;
  std::vector<std::size_t> children;  // in the order in which they began
  base::Nanoseconds self_time{};      // without the children's

  base::Nanoseconds duration() const noexcept { return end - begin; }  // wall time
};

using Events = std::vector<Event>;  // in the order in which they began

}  // namespace distrun::profiler

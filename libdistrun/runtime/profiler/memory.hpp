#pragma once
// Bytes that tensors take, by the thread that has taken them or given them back. Counted while a profile is on.
#include <cstdint>

namespace distrun::profiler {

struct MemoryCounts {
  std::int64_t cpu = 0;
  std::int64_t device = 0;
};

// The calling thread's.
inline MemoryCounts& memory_counts() noexcept {
  static constinit thread_local MemoryCounts counts;
  return counts;
}

}  // namespace distrun::profiler

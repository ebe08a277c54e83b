#pragma once
// Bytes that tensors take, counted by the thread that allocates or frees them, while a profile is on.
#include <cstdint>

namespace distrun::profiler {

struct MemoryCounts {
  std::int64_t cpu = 0;
  std::int64_t device = 0;
};

// Returns the calling thread's counts.
inline MemoryCounts& memory_counts() noexcept {
  static constinit thread_local MemoryCounts counts;
  return counts;
}

}  // namespace distrun::profiler

#pragma once
// Reads the resource usage of a process from /proc. Zeros if it has ended.
#include <sys/types.h>

#include <cstdint>

#include <distrun/common/base/clock.hpp>

namespace distrun::proc {

struct Usage {
  base::Nanoseconds cpu{};         // user and system, of all its threads
  std::uint64_t memory_bytes = 0;  // resident
};

Usage usage_of(pid_t pid);

}  // namespace distrun::proc

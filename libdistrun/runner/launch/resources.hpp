#pragma once
// The CPUs, memory and GPUs that a machine has for its ranks.
#include <cstdint>
#include <string>

namespace distrun::launch {

struct Resources {
  std::string host;                    // as the run names it; empty: this machine
  int cpus = 1;                        // that its ranks may use
  std::uint64_t memory_available = 0;  // in bytes; 0: unknown
  int gpus = 0;                        // that its ranks may use, without emulated ones
  std::string why_no_gpu;              // "node01 has no NVIDIA device"; empty: it has some
};

}  // namespace distrun::launch

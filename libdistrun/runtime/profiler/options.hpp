#pragma once
// The options of a profile.
#include <cstddef>

namespace distrun::profiler {

// What a profile records besides names and times.
struct ProfileOptions {
  static constexpr std::size_t kLimit = 100'000;  // events

  bool record_shapes = false;   // of operators' inputs
  bool profile_memory = false;  // bytes of tensors
  bool device_time = false;     // of operators on the current GPU, measured by a pair of its events around each
  bool with_rpc = true;         // records calls, and their work on callees; otherwise calls run as without a profile
  std::size_t limit = kLimit;   // events beyond this number are only counted
};

}  // namespace distrun::profiler

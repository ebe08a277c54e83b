#pragma once
// What a profile is to record.
#include <cstddef>

namespace distrun::profiler {

struct ProfileOptions {
  static constexpr std::size_t kLimit = 100'000;

  bool record_shapes = false;   // of operators' inputs
  bool profile_memory = false;  // bytes of tensors
  bool device_time = false;     // of operators on the current GPU, by a pair of its events around each
  bool with_rpc = true;         // calls, and what others do for them; without it calls are made as without a profile
  std::size_t limit = kLimit;   // beyond so many, events are only counted
};

}  // namespace distrun::profiler

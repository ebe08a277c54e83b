#pragma once
// Detects a build with the thread sanitizer, which has a thread in every process and handles faults itself.
// Tests that cannot hold then report that with WARN and return.
#include <distrun/common/base/sanitizer.hpp>

namespace distrun::testing {

using base::kThreadSanitizer;

inline constexpr char kOwnThread[] = "the thread sanitizer has a thread of its own in every process";
inline constexpr char kOwnFaults[] = "the thread sanitizer handles faults of forked children itself";

}  // namespace distrun::testing

#pragma once
// What a column says, as a value. The file is the user's, so anybody may have written into it: whatever stands there
// becomes a value that can be calculated with.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include <distrun/common/base/clock.hpp>
#include <distrun/runner/record/outcome.hpp>

namespace distrun::history {

// What runner::name_of() was given. A name that a later version wrote is none of ours: infra-error, which says nothing
// about a test.
inline runner::Verdict verdict_named(std::string_view name) noexcept {
  for (int i = 0; i < runner::kVerdictCount; ++i) {
    const auto verdict = static_cast<runner::Verdict>(i);
    if (name == name_of(verdict)) return verdict;
  }
  return runner::Verdict::InfraError;
}

// Up to 292 years, which is what nanoseconds can say.
inline base::Nanoseconds duration_of(std::int64_t microseconds) noexcept {
  return std::chrono::microseconds(std::clamp<std::int64_t>(microseconds, 0, INT64_MAX / 1000));
}

// From 1970 to 2262, since 1970.
inline std::int64_t time_of(std::int64_t milliseconds) noexcept {
  return std::clamp<std::int64_t>(milliseconds, 0, INT64_MAX / 1'000'000);
}

}  // namespace distrun::history

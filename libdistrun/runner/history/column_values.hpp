#pragma once
// Converts columns to values. The file may contain anything; all values are safe to use.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include <distrun/common/base/clock.hpp>
#include <distrun/runner/record/outcome.hpp>

namespace distrun::history {

// Inverse of runner::name_of(). A name written by a later version becomes infra-error, which says nothing about a test.
inline runner::Verdict verdict_named(std::string_view name) noexcept {
  for (int i = 0; i < runner::kVerdictCount; ++i) {
    const auto verdict = static_cast<runner::Verdict>(i);
    if (name == name_of(verdict)) return verdict;
  }
  return runner::Verdict::InfraError;
}

// Clamped to 292 years, the range of nanoseconds.
inline base::Nanoseconds duration_of(std::int64_t microseconds) noexcept {
  return std::chrono::microseconds(std::clamp<std::int64_t>(microseconds, 0, INT64_MAX / 1000));
}

// Clamped to 1970 to 2262, counted from 1970.
inline std::int64_t time_of(std::int64_t milliseconds) noexcept {
  return std::clamp<std::int64_t>(milliseconds, 0, INT64_MAX / 1'000'000);
}

}  // namespace distrun::history

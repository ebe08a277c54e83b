#pragma once
// Times as people give them: a number of seconds.
#include <algorithm>

#include <distrun/common/base/clock.hpp>

namespace distrun::rpc {

// Of more than a year: a year.
inline base::Nanoseconds nanoseconds_of(double seconds) noexcept {
  constexpr double kYear = 365.0 * 24 * 3600;
  return std::chrono::duration_cast<base::Nanoseconds>(std::chrono::duration<double>(std::clamp(seconds, 0.0, kYear)));
}

}  // namespace distrun::rpc

#pragma once
// Time as a seam: whoever needs the time is given a Clock, so that a simulated run can bring its own.
#include <chrono>
#include <cstdint>
#include <string>

namespace distrun::base {

using Nanoseconds = std::chrono::nanoseconds;
using Milliseconds = std::chrono::milliseconds;
using TimePoint = std::chrono::steady_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  // Monotonic; the same for every process of this machine.
  virtual TimePoint now() const = 0;
  // Wall time in nanoseconds since 1970, for reports only.
  virtual std::int64_t wall_ns() const = 0;
};

// The real one. It has no state; any thread.
const Clock& system_clock() noexcept;

// "2026-11-20T10:44:53.123Z".
std::string iso8601(std::int64_t wall_ns);
// "1.5 ms", "12.3 s", "2 min 05 s".
std::string human(Nanoseconds duration);

}  // namespace distrun::base

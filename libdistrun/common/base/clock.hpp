#pragma once
// Time as a seam: code that needs the time takes a Clock, so that a simulation can pass a simulated one.
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
  // Monotonic, and the same for all processes of this machine.
  virtual TimePoint now() const = 0;
  // Wall time in nanoseconds since 1970, for reports only.
  virtual std::int64_t wall_ns() const = 0;
};

// Returns the real clock. Stateless, thread-safe.
const Clock& system_clock() noexcept;

// Returns UTC text: "2026-11-20T10:44:53.123Z".
std::string iso8601(std::int64_t wall_ns);
// Returns "1.5 ms", "12.3 s", "2 min 05 s".
std::string human(Nanoseconds duration);

}  // namespace distrun::base

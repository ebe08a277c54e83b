#pragma once
// How long the rest of a run will take, from the usual durations of its tests. Not thread-safe.
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>

#include <distrun/common/base/clock.hpp>

namespace distrun::report {

class Estimate {
 public:
  // Adds a selected test; nullopt: its usual duration is not known. Call once for each, before it starts.
  void expect(const std::string& id, std::optional<base::Nanoseconds> usual);
  // Up to this many tests run at the same time.
  void at_once(int jobs) noexcept { jobs_ = jobs; }

  void started(const std::string& id);
  // Returns what is left of a running test of this age.
  base::Nanoseconds left_of(const std::string& id, base::Nanoseconds age) const;
  // Returns the time for what waits and what runs; `running`: the sum, and the longest, of left_of() of the latter.
  // nullopt if fewer than half of the tests are known.
  std::optional<base::Nanoseconds> left(base::Nanoseconds running, base::Nanoseconds longest) const;

 private:
  base::Nanoseconds usual_of(const std::string& id) const;

  std::unordered_map<std::string, base::Nanoseconds> usual_;  // of known tests
  base::Nanoseconds usual_sum_{};
  std::size_t expected_ = 0;
  base::Nanoseconds waiting_{};  // of known tests that have not started
  std::size_t unknown_waiting_ = 0;
  int jobs_ = 1;
};

// Returns "about 40 s left", "about 3 min left", "about 2 h 10 min left"; empty below five seconds.
std::string left_text(base::Nanoseconds left);

}  // namespace distrun::report

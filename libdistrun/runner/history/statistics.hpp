#pragma once
// Statistics of a test's earlier results. Pure functions of values.
//
// A result *counts* unless its verdict is skip, cancelled or infra-error: those say nothing about the test. Verdicts
// are judged over the last 20 results that count, so that old failures are forgotten; durations over all results kept,
// so that rare slow ones are included. Durations are those of passed (or flaky) results; a test that never passed is
// judged by its other results.
#include <cstddef>
#include <optional>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/runner/record/outcome.hpp>

namespace distrun::history {

inline constexpr int kWindow = 20;
// No timeout is suggested with fewer passed results.
inline constexpr int kEnoughToSuggest = 5;

bool counts(runner::Verdict verdict) noexcept;

struct Statistics {
  int results = 0;  // all that are kept
  int window = 0;   // the last results that count, at most kWindow
  int passed = 0;   // of the window: pass or flaky
  // The share of the window's results that are flaky or differ from the previous result (one passed, the other did
  // not): 0 for a test that always does the same, 1 for one that changes every time.
  double flakiness = 0;
  std::optional<runner::Verdict> last;  // of the newest result that counts
  int timed = 0;                        // results that passed
  // Nearest-rank percentiles; 0 if no result counts.
  base::Nanoseconds median{};
  base::Nanoseconds p95{};
  base::Nanoseconds p99{};

  bool fails_now() const noexcept { return last && !runner::is_good(*last); }
};

// Takes the results of one test one by one, newest first.
class Tally {
 public:
  void add(runner::Verdict verdict, base::Nanoseconds duration);
  // Returns the statistics and resets the tally for the next test.
  Statistics take();

 private:
  void judge(runner::Verdict verdict);

  Statistics statistics_;
  int odd_ = 0;                           // flaky, or different from the previous one
  std::optional<runner::Verdict> newer_;  // verdict of the result added before, in the window
  std::vector<base::Nanoseconds> good_;
  std::vector<base::Nanoseconds> bad_;
};

// Returns a suitable timeout of a body: five times the 99th percentile, at least 10 s, rounded up to a usual value.
base::Nanoseconds suggested_timeout(base::Nanoseconds p99);

}  // namespace distrun::history

#pragma once
// What a test's earlier results say about it. Pure functions of values.
//
// A result *counts* unless its verdict is skip, cancelled or infra-error: those say nothing about the test. Verdicts
// are judged over the last 20 results that count, so that an old sin is forgiven; durations over all that are kept, so
// that a rare slow one is seen. Durations are those of results that passed (or are flaky); a test that never passed is
// judged by the others.
#include <cstddef>
#include <optional>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/runner/record/outcome.hpp>

namespace distrun::history {

inline constexpr int kWindow = 20;
// With fewer results that passed there is nothing to suggest.
inline constexpr int kEnoughToSuggest = 5;

bool counts(runner::Verdict verdict) noexcept;

struct Statistics {
  int results = 0;  // all that are kept
  int window = 0;   // those that count, of the last: at most kWindow
  int passed = 0;   // of the window: pass or flaky
  // Of the window, the share of results that are flaky or whose result before was the opposite (one passed, the other
  // did not): 0 for a test that always does the same, 1 for one that changes every time.
  double flakiness = 0;
  std::optional<runner::Verdict> last;  // of the newest result that counts
  int timed = 0;                        // results that passed
  // Nearest-rank percentiles; 0 if no result counts.
  base::Nanoseconds median{};
  base::Nanoseconds p95{};
  base::Nanoseconds p99{};

  bool fails_now() const noexcept { return last && !runner::is_good(*last); }
};

// Takes the results of one test one by one, the newest first.
class Tally {
 public:
  void add(runner::Verdict verdict, base::Nanoseconds duration);
  // Ready for the next test afterwards.
  Statistics take();

 private:
  void judge(runner::Verdict verdict);

  Statistics statistics_;
  int odd_ = 0;                           // flaky, or unlike the one before
  std::optional<runner::Verdict> newer_;  // of the one that was taken before, in the window
  std::vector<base::Nanoseconds> good_;
  std::vector<base::Nanoseconds> bad_;
};

// The bound of a body that a test would do well with: five times its 99th percentile, at least 10 s, rounded up to a
// duration that people would write.
base::Nanoseconds suggested_timeout(base::Nanoseconds p99);

}  // namespace distrun::history

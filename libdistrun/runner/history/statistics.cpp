#include <distrun/runner/history/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace distrun::history {
namespace {

using namespace std::chrono_literals;

constexpr base::Nanoseconds kLeastTimeout = 10s;
constexpr base::Nanoseconds kMostTimeout = std::chrono::days(7);  // the maximum of --timeout
constexpr int kMargin = 5;

base::Nanoseconds percentile(std::vector<base::Nanoseconds>& durations, double share) {
  if (durations.empty()) return {};
  const auto rank = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(durations.size())));
  const auto at = durations.begin() + std::max<std::ptrdiff_t>(rank, 1) - 1;
  std::nth_element(durations.begin(), at, durations.end());
  return *at;
}

}  // namespace

bool counts(runner::Verdict verdict) noexcept {
  return verdict != runner::Verdict::Skip && verdict != runner::Verdict::Cancelled &&
         verdict != runner::Verdict::InfraError;
}

void Tally::add(runner::Verdict verdict, base::Nanoseconds duration) {
  ++statistics_.results;
  if (!counts(verdict)) return;
  if (!statistics_.last) statistics_.last = verdict;
  if (statistics_.window < kWindow) judge(verdict);
  (runner::is_good(verdict) ? good_ : bad_).push_back(duration);
}

void Tally::judge(runner::Verdict verdict) {
  const bool passed = runner::is_good(verdict);
  ++statistics_.window;
  statistics_.passed += passed ? 1 : 0;
  const bool newer_changed = newer_ && *newer_ != runner::Verdict::Flaky && runner::is_good(*newer_) != passed;
  odd_ += (newer_changed ? 1 : 0) + (verdict == runner::Verdict::Flaky ? 1 : 0);
  newer_ = verdict;
}

Statistics Tally::take() {
  Statistics statistics = statistics_;
  statistics.flakiness = statistics.window == 0 ? 0 : static_cast<double>(odd_) / statistics.window;
  statistics.timed = static_cast<int>(good_.size());
  std::vector<base::Nanoseconds>& durations = good_.empty() ? bad_ : good_;
  statistics.median = percentile(durations, 0.5);
  statistics.p95 = percentile(durations, 0.95);
  statistics.p99 = percentile(durations, 0.99);
  good_.clear();
  bad_.clear();
  statistics_ = {};
  odd_ = 0;
  newer_.reset();
  return statistics;
}

base::Nanoseconds suggested_timeout(base::Nanoseconds p99) {
  constexpr base::Nanoseconds kHuman[] = {10s,   15s,   20s,   30s,   45s, 1min, 90s, 2min, 3min, 5min, 10min,
                                          15min, 20min, 30min, 45min, 1h,  2h,   3h,  6h,   12h,  24h};
  const base::Nanoseconds wanted = std::max(kLeastTimeout, std::min(p99, kMostTimeout / kMargin) * kMargin);
  for (const base::Nanoseconds human : kHuman) {
    if (wanted <= human) return human;
  }
  return std::min<base::Nanoseconds>(std::chrono::ceil<std::chrono::days>(wanted), kMostTimeout);
}

}  // namespace distrun::history

#include <distrun/runner/nodes/clock_offset.hpp>

#include <algorithm>

namespace distrun::nodes {
namespace {

constexpr std::int64_t kDriftPerMillion = 50;             // of two ordinary clocks against each other
constexpr std::int64_t kTimeMax = std::int64_t{1} << 61;  // 73 years: sums of two do not overflow
constexpr std::int64_t kRoundTripMax = 60'000'000'000;    // of an answer that is worth anything

bool is_time(std::int64_t ns) { return ns >= 0 && ns < kTimeMax; }

base::Nanoseconds drift_of(std::int64_t age) { return drift_over(base::Nanoseconds(age)); }

}  // namespace

base::Nanoseconds drift_over(base::Nanoseconds time) noexcept {
  return base::Nanoseconds(std::max<std::int64_t>(time.count(), 0) / 1'000'000 * kDriftPerMillion);
}

void ClockOffset::add(const Sample& sample) {
  if (!is_time(sample.sent) || !is_time(sample.received) || !is_time(sample.peer_received) ||
      !is_time(sample.peer_sent)) {
    return;
  }
  const std::int64_t on_the_way = (sample.received - sample.sent) - (sample.peer_sent - sample.peer_received);
  if (sample.peer_sent < sample.peer_received || on_the_way < 0 || on_the_way > kRoundTripMax) return;
  const std::int64_t there = sample.peer_received - sample.sent;
  const std::int64_t back = sample.peer_sent - sample.received;
  const Offset offset{base::Nanoseconds(there / 2 + back / 2), base::Nanoseconds(on_the_way / 2 + 1)};
  if (best_ && offset.error > best_->error + drift_of(sample.received - best_at_)) return;
  best_ = offset;
  best_at_ = sample.received;
}

std::optional<Offset> ClockOffset::at(base::TimePoint now) const {
  if (!best_) return std::nullopt;
  return Offset{best_->offset, best_->error + drift_of(now.time_since_epoch().count() - best_at_)};
}

}  // namespace distrun::nodes

#include <distrun/runner/attempt/job_patience.hpp>

#include <signal.h>

#include <algorithm>
#include <utility>

namespace distrun::runner {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(300);

bool was_told_to_end(const RankState& rank) {
  const Outcome& outcome = rank.record.outcome;
  return outcome.kind == OutcomeKind::Signaled && outcome.value == SIGTERM && !rank.signaled_by_us;
}

}  // namespace

JobPatience::JobPatience(Ranks& ranks, std::function<void()> on_over)
    : ranks_(ranks), alarm_(ranks.run.loop, std::move(on_over)) {}

bool JobPatience::should_wait() {
  if (!ranks_.run.settings.in_job || ranks_.log.record().cancelled) return false;
  if (std::none_of(ranks_.all.begin(), ranks_.all.end(), was_told_to_end)) return false;
  const base::TimePoint now = ranks_.clocks.now();
  if (end_ == base::TimePoint::max()) {
    end_ = now + kPatience;
    alarm_.set(end_);
  }
  return now < end_;
}

}  // namespace distrun::runner

#include <distrun/runner/run/time_limit.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/deadline.hpp>

namespace distrun::runner {

TimeLimit::TimeLimit(io::Loop& loop, base::Nanoseconds limit, std::function<void()> on_over)
    : loop_(loop), left_(limit), alarm_(loop, std::move(on_over)) {}

void TimeLimit::begin() {
  if (left_.count() <= 0) return;
  is_running_ = true;
  since_ = loop_.clock().now();
  alarm_.set(base::deadline_after(left_, since_));
}

void TimeLimit::end() {
  is_running_ = false;
  alarm_.cancel();
}

void TimeLimit::pause() {
  if (!is_running_ || std::exchange(is_paused_, true)) return;
  alarm_.cancel();
  left_ = std::max(left_ - (loop_.clock().now() - since_), base::Nanoseconds(1));
}

void TimeLimit::resume() {
  if (is_running_ && std::exchange(is_paused_, false)) begin();
}

}  // namespace distrun::runner

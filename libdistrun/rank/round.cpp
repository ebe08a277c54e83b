#include <distrun/rank/round.hpp>

#include <distrun/rank/environment.hpp>

namespace distrun::rank {

void Round::begin(const wire::RunOrder& order) {
  const std::lock_guard lock(mutex_);
  if (running_++ > 0) return;
  set_environment(order);
  before_.reset();
  if (order.leaks_strict) before_.emplace();
}

std::vector<wire::LeakReport> Round::end() {
  const std::lock_guard lock(mutex_);
  if (--running_ > 0 || !before_) return {};
  return before_->look();
}

}  // namespace distrun::rank

#include <distrun/rank/round.hpp>

#include <distrun/rank/environment.hpp>

namespace distrun::rank {

void Round::begin(const wire::RunOrder& order, bool sets_up_suite) {
  const std::lock_guard lock(mutex_);
  if (running_++ == 0) {
    set_environment(order);
    before_.reset();
    if (order.leaks_strict && !sets_up_suite && order.host == wire::HostWork::None) before_.emplace();
  }
  if (sets_up_suite) before_.reset();
}

std::vector<wire::LeakReport> Round::end() {
  const std::lock_guard lock(mutex_);
  if (--running_ > 0 || !before_) return {};
  return before_->look();
}

}  // namespace distrun::rank

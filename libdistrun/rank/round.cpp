#include <distrun/rank/round.hpp>

#include <iterator>

#include <distrun/rank/environment.hpp>

namespace distrun::rank {

void Round::begin(const wire::RunOrder& order, bool sets_up_suite) {
  const std::lock_guard lock(mutex_);
  if (running_++ == 0) {
    set_environment(order);
    before_.reset();
    if (looks_at_state(order, sets_up_suite)) {
      state_ ? state_->take_environment() : static_cast<void>(state_.emplace());
    } else {
      state_.reset();
    }
    if (order.leaks_strict && !sets_up_suite && order.host == wire::HostWork::None) before_.emplace();
  }
  if (sets_up_suite) {
    before_.reset();
    state_.reset();
  }
}

void Round::end(Changes& changes) {
  const std::lock_guard lock(mutex_);
  if (--running_ > 0) return;
  if (state_) state_->put_back(changes);  // first: it may be a limit that keeps us from looking
  if (!before_) return;
  std::vector<wire::LeakReport> leaks = before_->look();
  changes.told.insert(changes.told.end(), leaks.begin(), leaks.end());
}

}  // namespace distrun::rank

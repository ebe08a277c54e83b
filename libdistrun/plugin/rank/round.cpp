#include <distrun/plugin/rank/round.hpp>

#include <iterator>

#include <distrun/plugin/rank/environment.hpp>
#include <distrun/plugin/rank/held.hpp>

namespace distrun::rank {

void Round::begin(const wire::RunOrder& order, bool sets_up_suite) {
  const std::lock_guard lock(mutex_);
  if (running_++ == 0) {
    set_environment(order);
    before_.reset();
    watched_ = order.watched;
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
    watched_.clear();
  }
}

std::vector<wire::HeldName> Round::end(Changes& changes) {
  const std::lock_guard lock(mutex_);
  if (--running_ > 0) return {};
  std::vector<wire::HeldName> held = held_in(watched_);  // first: the test may hold its working directory
  if (state_) state_->put_back(changes);  // before looking for leaks: a limit set by the test may prevent that
  if (!before_) return held;
  std::vector<wire::LeakReport> leaks = before_->look();
  changes.told.insert(changes.told.end(), leaks.begin(), leaks.end());
  return held;
}

}  // namespace distrun::rank

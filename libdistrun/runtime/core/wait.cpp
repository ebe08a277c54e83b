#include <distrun/runtime/core/wait.hpp>

#include <algorithm>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::core {

WaitObserver*& wait_observer() noexcept {
  constinit thread_local WaitObserver* observer = nullptr;
  return observer;
}

PollingWait::PollingWait(const board::WaitInfo& info, base::TimePoint deadline)
    : deadline_(deadline), rank_(rank_state()), wait_(info, deadline), wake_(rank_, [this](const PeerFailure&) {
        { const std::lock_guard no_rest_begins(mutex_); }
        failed_.notify_all();
      }) {
  refuse_in_inline_function(kWaits, info.site);
}

WaitEnd PollingWait::rest(base::Nanoseconds duration) {
  const base::TimePoint now = base::system_clock().now();
  const bool is_over = now >= deadline_;
  std::unique_lock lock(mutex_);
  const base::TimePoint until = is_over ? now : std::min(deadline_, base::deadline_after(duration, now));
  if (failed_.wait_until(lock, until, [this] { return rank_.has_failed_peer(); })) return WaitEnd::PeerFailed;
  return is_over ? WaitEnd::Timeout : WaitEnd::Ready;
}

void throw_peer_failed(std::string_view doing, base::Location where) {
  const auto failure = rank_state().peer_failure().value_or(PeerFailure{-1, "a peer has failed"});
  throw base::PeerFailed(std::string(doing) + ": " + failure.why, failure.rank, where);
}

}  // namespace distrun::core

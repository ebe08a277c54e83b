#pragma once
// The runtime's waits, which are visible. Code that blocks a thread here (on a stream, for a reply, in the engine) has
// a Wait object meanwhile. The rank shows it on its board, with its peers, begin and deadline, so that a hang can be
// explained. Without a rank it only waits.
//
// A wait for other ranks also ends when one of them fails (wait_for_peers): what it waits for may never happen.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/board/slot_writer.hpp>
#include <distrun/runtime/core/inline_function.hpp>
#include <distrun/runtime/core/rank_state.hpp>

namespace distrun::core {

// No deadline.
inline constexpr base::TimePoint kForever = base::TimePoint::max();

// Is notified when its thread is blocked; a pool observes its threads. Called on that thread; must not wait.
class WaitObserver {
 public:
  virtual void begin_wait() noexcept = 0;
  virtual void end_wait() noexcept = 0;

 protected:
  ~WaitObserver() = default;
};
// Returns the calling thread's observer; null: none.
WaitObserver*& wait_observer() noexcept;

// Shows a wait of the calling thread from construction to destruction. For code that blocks by other means.
class Wait {
 public:
  explicit Wait(const board::WaitInfo& info, base::TimePoint deadline = kForever) noexcept
      : line_(rank_state().line()),
        number_(line_ != nullptr ? line_->begin_wait(info, deadline) : -1),
        observer_(std::exchange(wait_observer(), nullptr)) {  // nested waits count once
    if (observer_ != nullptr) observer_->begin_wait();
  }
  ~Wait() {
    if (observer_ != nullptr) observer_->end_wait();
    wait_observer() = observer_;
    if (line_ != nullptr) line_->end_wait(number_);
  }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

 private:
  RankLine* line_;
  int number_;
  WaitObserver* observer_;
};

// Blocks until `ready()`, which is called with `lock` held, returns true or the deadline passes; returns ready()'s last
// result. If it is ready at once, nothing is shown, and it costs nothing.
template <class Ready>
bool wait_until(const board::WaitInfo& info, std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                base::TimePoint deadline, Ready ready) {
  if (ready()) return true;
  const Wait wait(info, deadline);
  if (deadline != kForever) return changed.wait_until(lock, deadline, ready);
  changed.wait(lock, ready);
  return true;
}

enum class WaitEnd : std::uint8_t { Ready, Timeout, PeerFailed };

namespace detail {

// Releases a lock when the scope ends.
class UnlockedAtEnd {
 public:
  explicit UnlockedAtEnd(std::unique_lock<std::mutex>& lock) noexcept : lock_(lock) {}
  ~UnlockedAtEnd() { lock_.unlock(); }
  UnlockedAtEnd(const UnlockedAtEnd&) = delete;
  UnlockedAtEnd& operator=(const UnlockedAtEnd&) = delete;

 private:
  std::unique_lock<std::mutex>& lock_;
};

}  // namespace detail

inline constexpr const char* kWaits = "waits for other ranks";  // in refuse_in_inline_function()

// Like wait_until(), for actions of other ranks. Also ends when a rank of the world has failed and `ready` is still
// false (rank_state().peer_failure() has the rank and the reason). Releases `lock` for a moment before it blocks, and
// leaves it released if `ready` throws. Throws Error{Failed} in an inline function of RPC (inline_function.hpp), unless
// it is ready at once.
template <class Ready>
WaitEnd wait_for_peers(const board::WaitInfo& info, std::unique_lock<std::mutex>& lock,
                       std::condition_variable& changed, base::TimePoint deadline, Ready ready) {
  if (ready()) return WaitEnd::Ready;
  refuse_in_inline_function(kWaits, info.site);
  RankState& rank = rank_state();
  std::mutex& mutex = *lock.mutex();
  bool is_over = true;
  {
    const Wait wait(info, deadline);
    lock.unlock();
    const PeerFailedCall wake(rank, [&](const PeerFailure&) {
      { const std::lock_guard no_wait_begins(mutex); }
      changed.notify_all();
    });
    lock.lock();
    const detail::UnlockedAtEnd is_free(lock);  // also if ready() throws: `wake` must not end with the mutex held
    const auto over = [&] { return ready() || rank.has_failed_peer(); };
    if (deadline == kForever) {
      changed.wait(lock, over);
    } else {
      is_over = changed.wait_until(lock, deadline, over);
    }
  }
  lock.lock();
  if (ready()) return WaitEnd::Ready;
  return is_over ? WaitEnd::PeerFailed : WaitEnd::Timeout;
}

// A wait for an event without notification, if poll_for_peers() does not fit: the caller polls, and rests in between.
class PollingWait {
 public:
  // Throws as wait_for_peers().
  explicit PollingWait(const board::WaitInfo& info, base::TimePoint deadline = kForever);

  // Returns Ready when it is time to poll again. The other ends are returned at once.
  WaitEnd rest(base::Nanoseconds duration);

 private:
  const base::TimePoint deadline_;
  RankState& rank_;
  Wait wait_;
  std::mutex mutex_;
  std::condition_variable failed_;
  PeerFailedCall wake_;
};

// Like wait_for_peers(), for events without notification: polls `ready`, and rests in between: 20 us at first, twice as
// long each time, up to `longest`. If it is ready at once, nothing is shown.
template <class Ready>
WaitEnd poll_for_peers(const board::WaitInfo& info, base::TimePoint deadline, base::Nanoseconds longest, Ready ready) {
  if (ready()) return WaitEnd::Ready;
  PollingWait wait(info, deadline);
  for (base::Nanoseconds rest = std::chrono::microseconds(20); !ready(); rest = std::min(2 * rest, longest)) {
    if (const WaitEnd end = wait.rest(rest); end != WaitEnd::Ready) return end;
  }
  return WaitEnd::Ready;
}

// The same, but returns false at the deadline, and throws base::PeerFailed "waiting for NAME: ..." when another rank
// fails.
template <class Ready>
bool poll_until(const board::WaitInfo& info, base::TimePoint deadline, base::Nanoseconds longest, Ready ready);

// Throws the failure of the test's ranks as base::PeerFailed, for a caller that waited for them.
[[noreturn]] void throw_peer_failed(std::string_view doing, base::Location where = base::Location::here());

template <class Ready>
bool poll_until(const board::WaitInfo& info, base::TimePoint deadline, base::Nanoseconds longest, Ready ready) {
  const WaitEnd end = poll_for_peers(info, deadline, longest, std::move(ready));
  if (end == WaitEnd::PeerFailed) throw_peer_failed("waiting for " + std::string(info.name), info.site);
  return end == WaitEnd::Ready;
}

}  // namespace distrun::core

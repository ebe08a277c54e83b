#include <distrun/runtime/collectives/nccl/watchdog.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/thread.hpp>

namespace distrun::collectives {
namespace {

constexpr base::Nanoseconds kLongest = std::chrono::seconds(1);  // the longest sleep

}  // namespace

struct Watchdog::Shift {
  explicit Shift(Watchdog& watchdog) : thread("distrun-nccl", [this, &watchdog] { watchdog.run(*this); }) {}
  bool is_over = false;  // guarded by the watchdog's mutex
  base::Thread thread;   // the last member: destroyed first
};

Watchdog& Watchdog::of_process() {
  static auto* const only = new Watchdog;  // never destroyed: groups may end as late as the process
  return *only;
}

void Watchdog::watch(const std::shared_ptr<Watched>& what) {
  const std::lock_guard lock(mutex_);
  watched_.emplace_back(what.get(), what);
  if (shift_ == nullptr) shift_ = std::make_unique<Shift>(*this);
}

void Watchdog::forget(const Watched& what) {
  std::unique_ptr<Shift> ended;  // joined without the lock
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(watched_, [&](const auto& each) { return each.first == &what || each.second.expired(); });
    if (!watched_.empty() || shift_ == nullptr) return;
    ended = std::move(shift_);
    ended->is_over = true;
  }
  changed_.notify_all();
}

void Watchdog::wake() {
  {
    const std::lock_guard lock(mutex_);
    is_woken_ = true;
  }
  changed_.notify_all();
}

// Releases the lock while checking, which may take long and call back.
void Watchdog::run(const Shift& shift) {
  std::unique_lock lock(mutex_);
  while (!shift.is_over) {
    const auto all = watched_;
    is_woken_ = false;
    lock.unlock();
    base::TimePoint next = base::system_clock().now() + kLongest;
    for (const auto& [key, each] : all) {
      if (const auto there = each.lock()) next = std::min(next, there->look());
    }
    lock.lock();
    changed_.wait_until(lock, next, [&] { return is_woken_ || shift.is_over; });
  }
}

}  // namespace distrun::collectives

#include <distrun/runtime/collectives/nccl/watchdog.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/if_memory.hpp>

namespace distrun::collectives {
namespace {

constexpr base::Nanoseconds kLongest = std::chrono::seconds(1);  // the longest sleep

}  // namespace

Watchdog& Watchdog::of_process() {
  static auto* const only = new Watchdog;  // never destroyed: groups may end as late as the process
  return *only;
}

void Watchdog::watch(const std::shared_ptr<Watched>& what) {
  const std::lock_guard lock(mutex_);
  if (thread_ == nullptr) {
    thread_ = std::make_unique<core::DeadlineThread>("distrun-nccl", [this] { return look_at_all(); });
  }
  watched_.emplace_back(what.get(), what);
  thread_->call_by(base::system_clock().now());
}

void Watchdog::forget(const Watched& what) {
  std::unique_ptr<core::DeadlineThread> ended;  // joined without the lock
  const std::lock_guard lock(mutex_);
  std::erase_if(watched_, [&](const auto& each) { return each.first == &what || each.second.expired(); });
  if (watched_.empty()) ended = std::move(thread_);
}

void Watchdog::wake() {
  const std::lock_guard lock(mutex_);
  if (thread_ != nullptr) thread_->call_by(base::system_clock().now());
}

Watchdog::All Watchdog::watched() const {
  const std::lock_guard lock(mutex_);
  return watched_;
}

// Holds no lock while checking, which may take long and call back.
base::TimePoint Watchdog::look_at_all() noexcept {
  base::TimePoint next = base::system_clock().now() + kLongest;
  base::if_memory([&] {
    for (const auto& [key, each] : watched()) {
      if (const auto there = each.lock()) next = std::min(next, there->look());
    }
  });
  return next;
}

}  // namespace distrun::collectives

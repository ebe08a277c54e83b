#pragma once
// A thread per process, distrun-nccl (core/deadline_thread.hpp), that checks calls for which no thread waits. Exists
// only while there are any.
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/runtime/core/deadline_thread.hpp>

namespace distrun::collectives {

// An object that the watchdog checks.
class Watched {
 public:
  virtual ~Watched() = default;
  // Checks the object; returns the latest time of the next check. Must not throw.
  virtual base::TimePoint look() noexcept = 0;
};

// Thread-safe.
class Watchdog {
 public:
  static Watchdog& of_process();

  // Watches the object until forget(), or until it is destroyed. Throws as core::DeadlineThread::call_by().
  void watch(const std::shared_ptr<Watched>& what);
  // Call once. After the last object the thread ends, before this returns.
  void forget(const Watched& what);
  // Makes the thread check now.
  void wake();

 private:
  using All = std::vector<std::pair<const Watched*, std::weak_ptr<Watched>>>;

  All watched() const;
  // Checks all objects; returns the time of the next check.
  base::TimePoint look_at_all() noexcept;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  All watched_;
  std::unique_ptr<core::DeadlineThread> thread_;  // from the first watched object to the last
};

}  // namespace distrun::collectives

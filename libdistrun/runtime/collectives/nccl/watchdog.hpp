#pragma once
// A thread per process, distrun-nccl, that checks calls for which no thread waits. Exists only while there are any.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include <distrun/common/base/clock.hpp>

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

  // Watches the object until forget(), or until it is destroyed.
  void watch(const std::shared_ptr<Watched>& what);
  // Call once. After the last object the thread ends, before this returns.
  void forget(const Watched& what);
  // Makes the thread check now.
  void wake();

 private:
  // A thread, from the first watched object to the last.
  struct Shift;
  void run(const Shift& shift);

  std::mutex mutex_;
  // Guarded by mutex_.
  std::condition_variable changed_;
  std::vector<std::pair<const Watched*, std::weak_ptr<Watched>>> watched_;
  std::unique_ptr<Shift> shift_;  // null: no thread
  bool is_woken_ = false;
};

}  // namespace distrun::collectives

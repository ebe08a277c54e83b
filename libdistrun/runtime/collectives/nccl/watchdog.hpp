#pragma once
// The thread of a process that looks after calls which nobody waits for: distrun-nccl, there while there is something
// to look after.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include <distrun/common/base/clock.hpp>

namespace distrun::collectives {

// Something to look after.
class Watched {
 public:
  virtual ~Watched() = default;
  // Looks; the latest time at which to look again. Must not throw.
  virtual base::TimePoint look() noexcept = 0;
};

// Any thread.
class Watchdog {
 public:
  static Watchdog& of_process();

  // From now on until it is forgotten, or gone.
  void watch(const std::shared_ptr<Watched>& what);
  // Once is enough. With the last one the thread ends, before this returns.
  void forget(const Watched& what);
  // There is something to look at, or soon.
  void wake();

 private:
  // A thread, from the first that is watched to the last.
  struct Shift;
  void run(const Shift& shift);

  std::mutex mutex_;
  // Guarded by mutex_.
  std::condition_variable changed_;
  std::vector<std::pair<const Watched*, std::weak_ptr<Watched>>> watched_;
  std::unique_ptr<Shift> shift_;  // null: there is no thread
  bool is_woken_ = false;
};

}  // namespace distrun::collectives

#pragma once
// State of the ported tests' functions. The original keeps it per process; here each rank has its own, even if ranks
// are threads of one process.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/future/future.hpp>

namespace distrun::suites {

// Thread-safe, as all below.
template <class T>
class PerRank {
 public:
  // Returns the value of the calling thread's rank, created on first use.
  std::shared_ptr<T> here() {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<T>& mine = all_[&core::rank_state()];
    if (mine == nullptr) mine = std::make_shared<T>();
    return mine;
  }
  // Threads that hold the old value keep it.
  void renew() {
    const std::lock_guard lock(mutex_);
    all_[&core::rank_state()] = std::make_shared<T>();
  }

 private:
  std::mutex mutex_;
  std::map<const core::RankState*, std::shared_ptr<T>> all_;  // guarded by mutex_
};

// A value that set_value() sets.
PerRank<Future<std::int64_t>>& promise();
// The event that timed_out_rpc() waits for.
PerRank<Future<void>>& event();
// Used by reset_count() and increment_count().
PerRank<std::atomic<std::int64_t>>& counter();

// Resets all of them, before any rank calls: ranks may persist from one test to the next.
void renew_state();

}  // namespace distrun::suites

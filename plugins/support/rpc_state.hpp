#pragma once
// What the functions of ported tests keep for a whole process: here each rank has its own, also where ranks are threads
// of one process.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/future/future.hpp>

namespace distrun::suites {

// Any thread of a rank, as all below.
template <class T>
class PerRank {
 public:
  // Of the calling thread's rank; made when it is first asked for.
  std::shared_ptr<T> here() {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<T>& mine = all_[&core::rank_state()];
    if (mine == nullptr) mine = std::make_shared<T>();
    return mine;
  }
  // Whoever has the old one keeps it.
  void renew() {
    const std::lock_guard lock(mutex_);
    all_[&core::rank_state()] = std::make_shared<T>();
  }

 private:
  std::mutex mutex_;
  std::map<const core::RankState*, std::shared_ptr<T>> all_;  // guarded by mutex_
};

// A value that set_value() brings.
PerRank<Future<std::int64_t>>& promise();
// What timed_out_rpc() waits for.
PerRank<Future<void>>& event();
// Of reset_count() and increment_count().
PerRank<std::atomic<std::int64_t>>& counter();

// All of them, before anybody calls: ranks may stay from one test to the next.
void renew_state();

}  // namespace distrun::suites

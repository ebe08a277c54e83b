#pragma once
// The threads that run what users attach: callbacks of futures, and what peers call. A handler may block, also for what
// only another handler can bring: the pool takes another thread then, so that blocked ones never keep it from going on.
//
//   worker    idle -> running -> idle; blocked while it is in a core::Wait, of which the pool is told. There are as
//   many
//             that are not blocked as kWorkers says, once there was work for them; one that is too many ends when it
//             has been idle for a second
//   watcher   one thread, from when all workers are busy: if tasks wait and none was taken for a moment, the others
//             block where the pool is not told (a lock, a sleep); then it becomes a worker itself
//
// None is started before the first task, so that the process can still fork.
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include <distrun/common/base/clock.hpp>
#include <distrun/runtime/core/wait.hpp>

namespace distrun::future {

// Something to run once. Must not throw.
class HandlerTask {
 public:
  virtual ~HandlerTask() = default;
  virtual void run() noexcept = 0;
};

// Of one rank, handler_pool() below. Any thread. Its threads live until the process ends, but for those that were only
// needed while others blocked.
class HandlerPool final : private core::WaitObserver {
 public:
  // `rank` is whose work the threads do; it lives until the process ends, and so must the pool.
  explicit HandlerPool(core::RankState& rank);
  HandlerPool(const HandlerPool&) = delete;
  HandlerPool& operator=(const HandlerPool&) = delete;

  // Tasks begin in the order in which they are posted. The queue has no limit of its own: whoever posts what comes from
  // outside has one. If no thread can be had, the task waits for those that there are; if there are none at all, it
  // throws Error{Overloaded}.
  void post(std::unique_ptr<HandlerTask> task);

  struct Statistics {
    int threads = 0;  // at this moment, idle and blocked ones too
    int blocked = 0;
    int most_threads = 0;
    std::size_t queued = 0;
  };
  Statistics statistics() const;

 private:
  enum class Role : std::uint8_t { Worker, Watcher };

  // Of WaitObserver, on the pool's own threads.
  void begin_wait() noexcept override;
  void end_wait() noexcept override;

  void serve(Role role);  // a thread's whole life
  // With mutex_ held, as all below.
  void start(Role role);
  void start_if_short() noexcept;
  bool is_short() const noexcept { return queue_.size() > idle_; }
  int workers() const noexcept { return count_.threads - count_.blocked - (watching_ ? 1 : 0); }
  void watch(std::unique_lock<std::mutex>& lock);
  bool wait_for_task(std::unique_lock<std::mutex>& lock);
  void run_first(std::unique_lock<std::mutex>& lock);

  core::RankState& rank_;
  mutable std::mutex mutex_;
  std::condition_variable posted_;    // what idle workers wait for
  std::condition_variable is_short_;  // what the watcher waits for
  // Guarded by mutex_.
  std::deque<std::unique_ptr<HandlerTask>> queue_;
  Statistics count_;
  std::size_t idle_ = 0;  // workers, and those that are just starting
  bool watching_ = false;
  std::uint64_t taken_ = 0;  // tasks, since ever
};

// That of the rank whose work the calling thread does.
HandlerPool& handler_pool();
HandlerPool& handler_pool_of(core::RankState& rank);

}  // namespace distrun::future

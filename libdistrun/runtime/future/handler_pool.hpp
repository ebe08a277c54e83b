#pragma once
// The threads that run what users attach: callbacks of futures, and what peers call. A handler may block, also for what
// only another handler can bring: the pool takes another thread then, so that blocked ones never keep it from going on.
//
//   worker    idle -> running -> idle; blocked while it is in a core::Wait, of which the pool is told. So many run that
//             are not blocked as are wanted, and the queue waits for more of them; one that is too many ends when it
//             has been idle for a second
//   watcher   one thread, from when tasks wait for running ones: if none was taken for a moment, those that run block
//             where the pool is not told (a lock, a sleep), and one more may run, until one of these gets on
//
// Two lanes: users' tasks, and control tasks, which the runtime's parts send each other. Those come before all others,
// one at a time, in their order, however many users' tasks run or block: a thread beyond the bound is kept for them.
//
// With an idle place (idle_place.hpp) workers idle there. At least one always does: a worker starts a spare before it
// takes a task, if no other one is idle. If no thread can be had, it takes no users' task, but idles on until another
// comes back; a control task, which is short, it takes all the same. Workers that are too many rest with the pool, and
// are called before others are started.
//
// None is started before the first task or place, so that the process can still fork.
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/location.hpp>
#include <distrun/common/base/wait_queue.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/future/idle_place.hpp>

namespace distrun::future {

// Describes a task to threads that wait for it.
struct TaskInfo {
  const char* name = "";     // of the callee, or of the callback's future; lives until the process ends
  int caller = -1;           // the worker that calls; -1: it is a callback
  base::Location made_at{};  // of a callback's future
  bool is_users = true;      // runs code of users'. Else only the runtime's own, for which no shutdown waits
};
// 'handler "f", called by worker 2', 'callback of future "f" made at a.cpp:7'.
std::string describe(const TaskInfo& task);

// Something to run once. Must not throw.
class HandlerTask {
 public:
  virtual ~HandlerTask() = default;
  virtual void run() noexcept = 0;
  virtual TaskInfo info() const noexcept { return {}; }
};

// Of one rank, handler_pool() below. Any thread. Its threads live until the process ends, but for those that were only
// needed while others blocked.
class HandlerPool final {
 public:
  static constexpr int kThreadsMax = 1000;  // a program that blocks more at a time waits for itself

  // `rank` is whose work the threads do; it lives until the process ends, and so must the pool. `threads_max`, at least
  // 2, counts workers, also the one that is always idle in a place.
  explicit HandlerPool(core::RankState& rank, int threads_max = kThreadsMax);
  HandlerPool(const HandlerPool&) = delete;
  HandlerPool& operator=(const HandlerPool&) = delete;

  // Tasks begin in the order in which they are posted. The queue has no limit of its own: whoever posts what comes from
  // outside has one. If no thread can be had, the task waits for those that there are; if there are none at all, it
  // throws Error{Overloaded}; without memory std::bad_alloc. The task is destroyed then.
  void post(std::unique_ptr<HandlerTask> task);
  // The same by a thread that is in idle(): wakes nobody for it, since that thread is going to return and take it.
  void post_found(std::unique_ptr<HandlerTask> task);
  // As post(), on the lane of control tasks: short ones, which do not block on users.
  void post_control(std::unique_ptr<HandlerTask> task);

  // How many may run without being blocked, at least 1, at most what is wanted by default, which goes by the cores.
  void set_wanted(int workers);

  // Workers idle there from now on; starts one if none is idle. Throws Error{Failed} if there is a place already, and
  // Error{Overloaded} if no thread can be had.
  void use(std::shared_ptr<IdlePlace> place);
  // Returns when no worker is in it any more. Not from within idle(). Does nothing if it is not the pool's place.
  void leave(IdlePlace& place) noexcept;

  struct Statistics {
    int threads = 0;  // at this moment, idle and blocked ones too, and the watcher
    int running = 0;  // users' tasks, but for those that are blocked
    int blocked = 0;
    int most_threads = 0;
    std::size_t queued = 0;    // users' tasks
    int open = 0;              // of TaskInfo::is_users: those that are queued, run or are blocked
    std::uint64_t raises = 0;  // how often one more was let run, since others block unseen
    bool at_bound = false;     // they wait because all threads are taken
  };
  Statistics statistics() const;
  // Tasks of TaskInfo::is_users that have begun, the oldest first.
  struct Begun {
    TaskInfo task;
    base::TimePoint since;
  };
  std::vector<Begun> begun() const;
  // Returns the task of TaskInfo::is_users that the calling thread runs; null: none.
  static const TaskInfo* current() noexcept;

 private:
  enum class Lane : std::uint8_t { Users, Control };
  using Queue = std::deque<std::unique_ptr<HandlerTask>>;
  // To be woken once mutex_ is free; null: none.
  using Woken = std::shared_ptr<IdlePlace>;

  // A thread that runs tasks, and hears of the waits of users' ones.
  struct Worker final : core::WaitObserver {
    explicit Worker(HandlerPool& pool_) noexcept : pool(pool_) {}
    void begin_wait() noexcept override;
    void end_wait() noexcept override;

    HandlerPool& pool;
    Lane lane = Lane::Users;   // of what it runs
    TaskInfo task;             // that it runs, in the lane of users
    base::TimePoint since;     // when that was taken
    Worker* next = nullptr;    // the next one in first_
    std::uint64_t raises = 0;  // the pool's, when it got on last
  };

  void post(Lane lane, std::unique_ptr<HandlerTask> task);

  // With mutex_ held, as all below. Who may take what: handler_lanes.cpp.
  void push(Lane lane, std::unique_ptr<HandlerTask>& task);
  void begin(Worker& worker, const TaskInfo& task) noexcept;
  void end(const Worker& worker) noexcept;
  int limit() const noexcept { return wanted_ + raised_; }
  int busy() const noexcept { return running_ + count_.blocked; }
  int busy_max() const noexcept { return threads_max_ - (place_ != nullptr ? 1 : 0); }
  bool is_at_bound() const noexcept { return !users_.empty() && busy() >= busy_max(); }
  bool has_control() const noexcept { return !control_.empty() && !controls_; }
  int takeable() const noexcept;
  // Idle ones that look for tasks, or are in the place.
  int coming() const noexcept { return idle_ - resting_ + called_; }
  Woken see_to_tasks() noexcept;
  void tell_bound() noexcept;
  bool has_spare(Lane lane) noexcept;
  std::unique_ptr<HandlerTask> take(Worker& worker) noexcept;
  void finish(Worker& worker) noexcept;
  void get_on(Worker& worker) noexcept;

  // The threads: handler_pool.cpp.
  int workers() const noexcept { return count_.threads - count_.blocked - (watching_ ? 1 : 0); }
  bool is_too_many() const noexcept { return workers() > wanted_ + (place_ != nullptr ? 1 : 0); }
  bool is_needed_in_place() const noexcept { return place_ != nullptr && (coming() == 0 || !is_too_many()); }
  bool may_start_worker(Lane lane) const noexcept;
  void start_worker();
  bool try_start_worker(Lane lane) noexcept;
  void count_thread() noexcept;
  void work();
  void run(Worker& worker, std::unique_ptr<HandlerTask> task, std::unique_lock<std::mutex>& lock) noexcept;
  bool rest(std::unique_lock<std::mutex>& lock);
  bool call_resting() noexcept;
  void attend(std::unique_lock<std::mutex>& lock) noexcept;
  void alert_watcher() noexcept;
  void watch();

  core::RankState& rank_;
  const int threads_max_;
  mutable std::mutex mutex_;
  std::condition_variable alerted_;  // what the watcher waits for
  std::condition_variable left_;     // what leave() waits for
  // Guarded by mutex_.
  base::WaitQueue sleepers_;  // resting workers: woken when they are called, and when the place changes
  Queue users_;
  Queue control_;
  Statistics count_;
  std::shared_ptr<IdlePlace> place_;
  int inside_ = 0;  // workers in a place's idle()
  int wanted_;
  int raised_ = 0;           // how many more may run, in place of those that block unseen
  int running_ = 0;          // users' tasks, but for those that are blocked
  int open_ = 0;             // Statistics::open
  Worker* first_ = nullptr;  // of those that have begun a task of TaskInfo::is_users; a list that takes no memory
  int idle_ = 0;             // workers that look for a task, rest, are in the place, or are just starting
  int resting_ = 0;          // of these
  int called_ = 0;           // of these: they are waking up
  bool controls_ = false;    // a control task runs
  bool watching_ = false;
  bool is_alert_ = false;    // the watcher looks
  bool bound_told_ = false;  // since tasks have begun to wait
  std::uint64_t taken_ = 0;  // users' tasks, since ever
};

// That of the rank whose work the calling thread does.
HandlerPool& handler_pool();
HandlerPool& handler_pool_of(core::RankState& rank);

}  // namespace distrun::future

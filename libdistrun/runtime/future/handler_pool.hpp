#pragma once
// The threads that run handlers: callbacks of futures, and functions that peers call. A handler may block, also on
// another handler: the pool uses another thread then, so that blocked handlers never stop it.
//
//   worker    idle -> running -> idle; blocked while it is in a core::Wait, which notifies the pool. As many workers
//             run unblocked as are wanted, and other tasks are queued; a surplus worker ends after a second of idling
//   watcher   one thread, from when tasks wait for running ones: if no task was taken for a moment, the running ones
//             block without notice (in a lock, a sleep), and one more may run, until one of these continues
//
// Two lanes: users' tasks, and control tasks, which components of the runtime send each other. Control tasks come
// first, one at a time, in their order, however many users' tasks run or block: a thread beyond the limit is reserved
// for them.
//
// With an idle place (idle_place.hpp) workers idle there, always at least one: before it takes a task, a worker starts
// a spare if no other one is idle. If no thread can be created, it takes no users' task for a moment, but idles until
// another one returns, and tries again; then it runs the task all the same, since without memory for a thread all would
// wait for ever. It still takes control tasks, which are short. Surplus workers rest in the pool, and are called before
// others are started.
//
// No thread is started before the first task or place, so that the process can still fork.
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
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
  const char* name = "";     // of the callee or the callback's future; lives until the process ends
  int caller = -1;           // the calling worker; -1: it is a callback
  base::Location made_at{};  // of a callback's future
  bool is_users = true;      // runs users' code. Otherwise only the runtime's, and no shutdown waits for it
};
// 'handler "f", called by worker 2', 'callback of future "f" made at a.cpp:7'.
std::string describe(const TaskInfo& task);

// Work to run once. Must not throw.
class HandlerTask {
 public:
  virtual ~HandlerTask() = default;
  virtual void run() noexcept = 0;
  virtual TaskInfo info() const noexcept { return {}; }
};

// The pool of one rank: see handler_pool() below. Thread-safe. Its threads live until the process ends, except those
// that were only needed while others blocked.
class HandlerPool final {
 public:
  static constexpr int kThreadsMax = 1000;  // beyond this, blocking tasks deadlock

  // The threads work for `rank`. It must live until the process ends, and so must the pool. `threads_max`, at least 2,
  // limits workers, including the one that always idles in a place.
  explicit HandlerPool(core::RankState& rank, int threads_max = kThreadsMax);
  HandlerPool(const HandlerPool&) = delete;
  HandlerPool& operator=(const HandlerPool&) = delete;

  // Tasks begin in the order in which they are posted. The queue is unlimited: callers that post work from outside the
  // process must have a limit. If no thread can be created, the task waits for existing ones; without any it throws
  // Error{Overloaded}; without memory std::bad_alloc. The task is destroyed then.
  void post(std::unique_ptr<HandlerTask> task);
  // Posts from a thread inside idle(). Wakes no other thread, since this one is going to return and take the task.
  void post_found(std::unique_ptr<HandlerTask> task);
  // Posts on the lane of control tasks: short ones that don't block on users.
  void post_control(std::unique_ptr<HandlerTask> task);

  // Sets how many workers may run unblocked: at least 1, at most the default, which depends on the number of cores.
  void set_wanted(int workers);

  // Makes workers idle there; starts one if none is idle. Throws Error{Failed} if there is a place already, and
  // Error{Overloaded} if no thread can be created.
  void use(std::shared_ptr<IdlePlace> place);
  // Returns when no worker is in the place any more. Must not be called within idle(). Ignores a place that is not the
  // pool's.
  void leave(IdlePlace& place) noexcept;

  struct Statistics {
    int threads = 0;  // at present, including idle and blocked ones and the watcher
    int running = 0;  // users' tasks, without blocked ones
    int blocked = 0;
    int most_threads = 0;
    std::size_t queued = 0;    // users' tasks
    int open = 0;              // of TaskInfo::is_users: queued, running or blocked
    std::uint64_t raises = 0;  // how often one more was allowed, since others blocked unseen
    bool at_bound = false;     // tasks wait because all threads are in use
  };
  Statistics statistics() const;
  // Begun tasks of TaskInfo::is_users, the oldest first.
  struct Begun {
    TaskInfo task;
    base::TimePoint since;
  };
  std::vector<Begun> begun() const;
  // Returns the task of TaskInfo::is_users that the calling thread runs, or null.
  static const TaskInfo* current() noexcept;

 private:
  enum class Lane : std::uint8_t { Users, Control };
  using Queue = std::deque<std::unique_ptr<HandlerTask>>;
  // A place to wake once mutex_ is free; may be null.
  using Woken = std::shared_ptr<IdlePlace>;

  // A thread that runs tasks, and is notified of the waits of users' tasks.
  struct Worker final : core::WaitObserver {
    explicit Worker(HandlerPool& pool_) noexcept : pool(pool_) {}
    void begin_wait() noexcept override;
    void end_wait() noexcept override;

    HandlerPool& pool;
    Lane lane = Lane::Users;   // of the running task
    TaskInfo task;             // running task of the users' lane
    base::TimePoint since;     // when it was taken
    Worker* next = nullptr;    // in the list from first_
    std::uint64_t raises = 0;  // the pool's, when the worker last continued
  };

  void post(Lane lane, std::unique_ptr<HandlerTask> task);

  // All below require mutex_. Which worker may take which task: handler_lanes.cpp.
  void push(Lane lane, std::unique_ptr<HandlerTask>& task);
  void begin(Worker& worker, const TaskInfo& task) noexcept;
  void end(const Worker& worker) noexcept;
  int limit() const noexcept { return wanted_ + raised_; }
  int busy() const noexcept { return running_ + count_.blocked; }
  int busy_max() const noexcept { return threads_max_ - (place_ != nullptr ? 1 : 0); }
  bool is_at_bound() const noexcept { return !users_.empty() && busy() >= busy_max(); }
  bool has_control() const noexcept { return !control_.empty() && !controls_; }
  int takeable() const noexcept;
  // Idle workers that look for tasks, or are in the place.
  int coming() const noexcept { return idle_ - resting_ + called_; }
  Woken see_to_tasks() noexcept;
  void tell_bound() noexcept;
  bool has_spare(Lane lane) noexcept;
  bool fails_for_long() const noexcept;
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
  std::condition_variable alerted_;  // the watcher waits for it
  std::condition_variable left_;     // leave() waits for it
  // Guarded by mutex_.
  base::WaitQueue sleepers_;  // resting workers: woken when called, and when the place changes
  Queue users_;
  Queue control_;
  Statistics count_;
  std::shared_ptr<IdlePlace> place_;
  int inside_ = 0;                                // workers in a place's idle()
  std::optional<base::TimePoint> failing_since_;  // no worker can be started
  int wanted_;
  int raised_ = 0;           // how many more may run, in place of those that block unseen
  int running_ = 0;          // users' tasks, without blocked ones
  int open_ = 0;             // Statistics::open
  Worker* first_ = nullptr;  // intrusive list of workers with a begun task of TaskInfo::is_users
  int idle_ = 0;             // workers that look for a task, rest, are in the place, or are starting
  int resting_ = 0;          // of these, resting
  int called_ = 0;           // of these, waking up
  bool controls_ = false;    // a control task runs
  bool watching_ = false;
  bool is_alert_ = false;    // the watcher is active
  bool bound_told_ = false;  // since tasks have begun to wait
  std::uint64_t taken_ = 0;  // users' tasks taken in total
};

// Returns the pool of the calling thread's rank.
HandlerPool& handler_pool();
HandlerPool& handler_pool_of(core::RankState& rank);

}  // namespace distrun::future

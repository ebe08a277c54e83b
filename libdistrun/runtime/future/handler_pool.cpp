#include <distrun/runtime/future/handler_pool.hpp>

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/process_mark.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/core/thread_state.hpp>

namespace distrun::future {
namespace {

using namespace std::chrono_literals;

constexpr auto kMoment = 10ms;  // if no task is taken in this time, running ones are considered blocked
constexpr auto kIdle = 1s;
constexpr const char* kName = "distrun-pool";

constinit thread_local const TaskInfo* current_task = nullptr;

// Number of workers that run at the same time. One would suffice; a second works while the first is in the kernel.
int workers_wanted() {
  static const int wanted = std::clamp(static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)), 2, 8);
  return wanted;
}

}  // namespace

std::string describe(const TaskInfo& task) {
  if (task.caller >= 0)
    return "handler \"" + std::string(task.name) + "\", called by worker " + std::to_string(task.caller);
  std::string text = *task.name == '\0' ? "a callback" : "callback of future \"" + std::string(task.name) + "\"";
  if (task.made_at.line == 0) return text;
  return text + " made at " + task.made_at.file + ":" + std::to_string(task.made_at.line);
}

const TaskInfo* HandlerPool::current() noexcept { return current_task; }

HandlerPool::HandlerPool(core::RankState& rank, int threads_max)
    : rank_(rank), threads_max_(threads_max), wanted_(workers_wanted()) {}

void HandlerPool::set_wanted(int workers) {
  Woken woken;
  {
    const std::lock_guard lock(mutex_);
    wanted_ = std::clamp(workers, 1, workers_wanted());
    woken = see_to_tasks();
  }
  if (woken != nullptr) woken->wake();
}

void HandlerPool::use(std::shared_ptr<IdlePlace> place) {
  Woken woken;
  {
    const std::lock_guard lock(mutex_);
    if (place_ != nullptr || inside_ > 0) {
      throw Error(ErrorKind::Failed, "the handlers already idle at another place; release it first");
    }
    if (idle_ == 0 && may_start_worker(Lane::Users)) start_worker();
    place_ = std::move(place);
    woken = see_to_tasks();
    sleepers_.wake_all();
  }
  if (woken != nullptr) woken->wake();
}

void HandlerPool::leave(IdlePlace& place) noexcept {
  std::shared_ptr<IdlePlace> left;
  std::unique_lock lock(mutex_);
  if (place_.get() != &place) return;
  left.swap(place_);
  while (inside_ > 0) {
    const int before = inside_;
    lock.unlock();
    left->wake();
    lock.lock();
    left_.wait(lock, [&] { return inside_ < before; });
  }
  see_to_tasks();
}

// One thread beyond the limit is reserved for control tasks.
bool HandlerPool::may_start_worker(Lane lane) const noexcept {
  return count_.threads - (watching_ ? 1 : 0) < threads_max_ + (lane == Lane::Control ? 1 : 0);
}

void HandlerPool::start_worker() {
  const auto begin = [this, waiter = base::WaitQueue::make_waiter()] {
    base::WaitQueue::give_to_this_thread(waiter);
    work();
  };
  base::Thread(kName, begin).leave_running();
  ++idle_;
  count_thread();
}

bool HandlerPool::try_start_worker(Lane lane) noexcept {
  if (!may_start_worker(lane)) return false;
  try {
    start_worker();
    failing_since_.reset();
    return true;
  } catch (const std::exception&) {  // ours, or std::bad_alloc
    if (!failing_since_) failing_since_ = base::system_clock().now();
    return false;
  }
}

bool HandlerPool::fails_for_long() const noexcept {
  return failing_since_ && base::system_clock().now() - *failing_since_ >= kMoment;
}

void HandlerPool::count_thread() noexcept {
  ++count_.threads;
  count_.most_threads = std::max(count_.most_threads, count_.threads);
}

// The main function of a worker.
void HandlerPool::work() {
  core::thread_state().rank = &rank_;
  Worker worker(*this);
  std::unique_lock lock(mutex_);
  for (;;) {
    while (std::unique_ptr<HandlerTask> task = take(worker)) run(worker, std::move(task), lock);
    if (!rest(lock)) break;
    if (place_ != nullptr) attend(lock);
  }
  --idle_;
  --count_.threads;
}

void HandlerPool::run(Worker& worker, std::unique_ptr<HandlerTask> task, std::unique_lock<std::mutex>& lock) noexcept {
  Woken woken = see_to_tasks();
  const bool is_users = worker.lane == Lane::Users;
  lock.unlock();
  if (woken != nullptr) std::exchange(woken, nullptr)->wake();
  if (is_users) core::wait_observer() = &worker;
  if (is_users && worker.task.is_users) current_task = &worker.task;
  const base::ProcessMark mark;
  task->run();
  if (mark.is_inherited()) [[unlikely]]
    base::end_forked_thread("a handler");
  task.reset();
  current_task = nullptr;
  core::wait_observer() = nullptr;
  lock.lock();
  finish(worker);
}

// Sleeps until the worker is called, or needed in the place. Returns false if there are enough workers without it. An
// idle worker records no wait.
bool HandlerPool::rest(std::unique_lock<std::mutex>& lock) {
  ++resting_;
  const auto is_needed = [this] { return called_ > 0 || is_needed_in_place(); };
  bool is_over = false;
  while (!is_needed() && !is_over) {
    if (is_too_many()) {
      is_over = !sleepers_.wait_until(lock, base::system_clock().now() + kIdle) && is_too_many();
    } else {
      sleepers_.wait_until(lock);
    }
  }
  const bool stays = is_needed();
  --resting_;
  if (called_ > 0) --called_;
  return stays;
}

bool HandlerPool::call_resting() noexcept {
  if (called_ == resting_) return false;
  ++called_;
  sleepers_.wake_one();
  return true;
}

// If neither a spare nor the watcher could be started, this worker tries again after a moment.
void HandlerPool::attend(std::unique_lock<std::mutex>& lock) noexcept {
  IdlePlace& place = *place_;  // stays alive while workers are inside
  const bool is_watched = is_alert_ || users_.empty();
  const base::TimePoint until = is_watched ? base::TimePoint::max() : base::system_clock().now() + kMoment;
  ++inside_;
  lock.unlock();
  place.idle(until);
  lock.lock();
  --inside_;
  if (place_ == nullptr) left_.notify_all();
}

// If no thread can be created, tasks wait for running ones.
void HandlerPool::alert_watcher() noexcept {
  if (is_alert_) return;
  try {
    if (!watching_) {
      base::Thread(kName, [this] { watch(); }).leave_running();
      watching_ = true;
      count_thread();
    }
    is_alert_ = true;
    alerted_.notify_one();
  } catch (const std::exception&) {
    return;
  }
}

// The main function of the watcher.
void HandlerPool::watch() {
  core::thread_state().rank = &rank_;
  std::unique_lock lock(mutex_);
  for (;;) {
    alerted_.wait(lock, [this] { return is_alert_; });
    while (!users_.empty()) {
      const std::uint64_t before = taken_;
      if (alerted_.wait_for(lock, kMoment, [&] { return users_.empty() || taken_ != before; })) continue;
      if (running_ >= limit() && busy() < busy_max()) {
        ++raised_;
        ++count_.raises;
      }
      const Woken woken = see_to_tasks();
      lock.unlock();
      if (woken != nullptr) woken->wake();
      lock.lock();
    }
    is_alert_ = false;
  }
}

namespace {

// A rank's pool. A forked process gets another: it has none of the threads, and perhaps a mutex that one of them held.
class OwnPool {
 public:
  explicit OwnPool(core::RankState& rank) : rank_(rank), current_(new Marked(rank)) {}

  HandlerPool& get() {
    Marked* found = current_.load(std::memory_order_acquire);
    if (!found->mark.is_inherited()) [[likely]]
      return found->pool;
    auto* const made = new Marked(rank_);
    if (current_.compare_exchange_strong(found, made, std::memory_order_acq_rel)) return made->pool;
    delete made;  // another thread was faster
    return found->pool;
  }

 private:
  struct Marked {
    explicit Marked(core::RankState& rank) : pool(rank) {}
    HandlerPool pool;
    const base::ProcessMark mark;
  };

  core::RankState& rank_;
  std::atomic<Marked*> current_;  // never destroyed: its threads live as long as the process
};

}  // namespace

HandlerPool& handler_pool_of(core::RankState& rank) { return rank.part<OwnPool>(core::Part::Handlers).get(); }
HandlerPool& handler_pool() { return handler_pool_of(core::rank_state()); }

}  // namespace distrun::future

// The lanes: which worker may take which task, and how many tasks run.
#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include <distrun/runtime/future/handler_pool.hpp>

namespace distrun::future {

void HandlerPool::post(std::unique_ptr<HandlerTask> task) { post(Lane::Users, std::move(task)); }
void HandlerPool::post_control(std::unique_ptr<HandlerTask> task) { post(Lane::Control, std::move(task)); }

void HandlerPool::post(Lane lane, std::unique_ptr<HandlerTask> task) {
  Woken woken;
  {
    const std::lock_guard lock(mutex_);
    if (count_.threads == 0) start_worker();
    push(lane, task);
    woken = see_to_tasks();
  }
  if (woken != nullptr) woken->wake();
}

void HandlerPool::post_found(std::unique_ptr<HandlerTask> task) {
  const std::lock_guard lock(mutex_);
  push(Lane::Users, task);
  see_to_tasks();
}

// If it throws, the caller keeps the task: its destructor may post others, which needs the mutex.
void HandlerPool::push(Lane lane, std::unique_ptr<HandlerTask>& task) {
  const bool is_open = lane == Lane::Users && task->info().is_users;
  (lane == Lane::Control ? control_ : users_).push_back(std::move(task));
  if (is_open) ++open_;
}

HandlerPool::Statistics HandlerPool::statistics() const {
  const std::lock_guard lock(mutex_);
  Statistics now = count_;
  now.running = running_;
  now.queued = users_.size();
  now.open = open_;
  now.at_bound = is_at_bound();
  return now;
}

std::vector<HandlerPool::Begun> HandlerPool::begun() const {
  std::vector<Begun> all;
  {
    const std::lock_guard lock(mutex_);
    for (const Worker* each = first_; each != nullptr; each = each->next) all.push_back({each->task, each->since});
  }
  std::sort(all.begin(), all.end(), [](const Begun& a, const Begun& b) { return a.since < b.since; });
  return all;
}

// Returns the number of users' tasks that may run now.
int HandlerPool::takeable() const noexcept {
  const int free = std::min(limit() - running_, busy_max() - busy());
  return free <= 0 ? 0 : static_cast<int>(std::min(users_.size(), static_cast<std::size_t>(free)));
}

// Makes workers come for the tasks that may run. If no thread can be created, tasks wait for existing ones, and the
// watcher tries again.
HandlerPool::Woken HandlerPool::see_to_tasks() noexcept {
  const int users = takeable();
  const int all = users + (has_control() ? 1 : 0);
  tell_bound();
  if (static_cast<std::size_t>(users) < users_.size()) alert_watcher();
  if (place_ != nullptr) return all > 0 ? place_ : nullptr;
  const Lane lane = has_control() ? Lane::Control : Lane::Users;
  while (coming() < all && (call_resting() || try_start_worker(lane))) continue;
  if (coming() < all) alert_watcher();
  return nullptr;
}

void HandlerPool::tell_bound() noexcept {
  if (users_.empty()) bound_told_ = false;
  core::RankLine* const line = rank_.line();
  if (bound_told_ || line == nullptr || !is_at_bound()) return;
  bound_told_ = true;
  std::array<char, board::kNameSize> text;
  const char* const waiting = users_.size() == 1 ? "call waits" : "calls wait";
  std::snprintf(text.data(), text.size(), "handlers: all %d threads are taken, %zu %s", threads_max_, users_.size(),
                waiting);
  line->note(board::WaitKind::PoolSlot, text.data(), -1, 0);
}

// Returns whether a worker is available besides the calling one, which is about to take a task.
bool HandlerPool::has_spare(Lane lane) noexcept {
  return place_ == nullptr || coming() >= 2 || call_resting() || try_start_worker(lane);
}

// Returns a task for an idle worker; null if it may take none.
std::unique_ptr<HandlerTask> HandlerPool::take(Worker& worker) noexcept {
  Queue* queue = nullptr;
  if (has_control()) {
    (void)has_spare(Lane::Control);
    queue = &control_;
    worker.lane = Lane::Control;
    controls_ = true;
  } else if (takeable() == 0) {
    return nullptr;
  } else if (!has_spare(Lane::Users) && !fails_for_long()) {
    alert_watcher();
    return nullptr;
  } else {
    queue = &users_;
    worker.lane = Lane::Users;
    worker.raises = count_.raises;
    ++running_;
    ++taken_;
  }
  --idle_;
  std::unique_ptr<HandlerTask> task = std::move(queue->front());
  queue->pop_front();
  if (worker.lane == Lane::Users) begin(worker, task->info());
  return task;
}

void HandlerPool::begin(Worker& worker, const TaskInfo& task) noexcept {
  worker.task = task;
  if (!task.is_users) return;
  worker.since = base::system_clock().now();
  worker.next = std::exchange(first_, &worker);
}

void HandlerPool::end(const Worker& worker) noexcept {
  if (!worker.task.is_users) return;
  --open_;
  Worker** each = &first_;
  while (*each != &worker) each = &(*each)->next;
  *each = worker.next;
}

void HandlerPool::finish(Worker& worker) noexcept {
  ++idle_;
  if (worker.lane == Lane::Control) {
    controls_ = false;
  } else {
    --running_;
    end(worker);
    get_on(worker);
  }
}

// Withdraws the extra task that was allowed while this worker seemed blocked.
void HandlerPool::get_on(Worker& worker) noexcept {
  if (std::exchange(worker.raises, count_.raises) != count_.raises && raised_ > 0) --raised_;
}

void HandlerPool::Worker::begin_wait() noexcept {
  Woken woken;
  {
    const std::lock_guard lock(pool.mutex_);
    --pool.running_;
    ++pool.count_.blocked;
    pool.get_on(*this);
    woken = pool.see_to_tasks();
  }
  if (woken != nullptr) woken->wake();
}

void HandlerPool::Worker::end_wait() noexcept {
  const std::lock_guard lock(pool.mutex_);
  ++pool.running_;
  --pool.count_.blocked;
  raises = pool.count_.raises;
}

}  // namespace distrun::future

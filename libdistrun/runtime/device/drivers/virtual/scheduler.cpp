#include <distrun/runtime/device/drivers/virtual/scheduler.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/runtime/core/tracing.hpp>

namespace distrun::device::virtual_gpu {

struct Queue {
  Queue(StreamRef named, Priority wanted, std::uint64_t seed) : stream(named), priority(wanted), delays(seed) {}

  const StreamRef stream;
  const Priority priority;
  base::Rng delays;
  std::deque<Work> works;
  std::uint64_t pushed = 0;
  std::uint64_t completed = 0;
  std::optional<base::Error> error;      // of its own work: later work is dropped
  std::optional<base::Error> inherited;  // of work on other streams that it has waited for: thrown once, and the stream
                                         // continues
  bool active = false;                   // a call of advance() for it is pending
  bool busy = false;                     // its head is a busy kernel that has begun
  // When its head began to be busy or to wait, for a trace; 0: it did not, or no trace is written.
  std::int64_t began_ns = 0;
};

namespace {

constexpr int kThreads = 4;      // that run kernels
constexpr int kThreadsMax = 64;  // including those in callbacks
constexpr std::uint64_t kDelayOneOf = 8, kDelayMaxNs = 100'000;
constexpr base::Nanoseconds kAskAgain{50'000};  // interval of polling other processes

base::TimePoint now() { return base::system_clock().now(); }

base::Error current_error() {
  try {
    throw;
  } catch (const base::Error& error) {
    return error;
  } catch (const std::exception& error) {
    return {ErrorKind::Failed, error.what()};
  } catch (...) {
    return {ErrorKind::Failed, "an object that is not a std::exception was thrown"};
  }
}

}  // namespace

Scheduler::Scheduler(std::uint64_t seed) : seed_(seed), draw_(base::derive_seed(seed, "order")) {}

Scheduler::~Scheduler() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    resting_.wake_all();
    timer_changed_.notify_all();
  }
  threads_.clear();  // joins them
  drop_works();
}

// Breaks reference cycles: a queue holds the points that it waits for, and they hold it.
void Scheduler::drop_works() {
  std::vector<std::shared_ptr<Queue>> queues = std::move(ready_);
  for (const auto& [stream, queue] : queues_) queues.push_back(queue);
  queues.insert(queues.end(), closed_.begin(), closed_.end());
  for (const auto& [due, queue] : timers_) queues.push_back(queue);
  while (!queues.empty()) {
    const std::deque<Work> works = std::exchange(queues.back()->works, {});
    queues.pop_back();
    for (const Work& work : works) {
      if (!work.point) continue;
      auto waiting = std::exchange(work.point->waiting, {});
      std::move(waiting.begin(), waiting.end(), std::back_inserter(queues));
    }
  }
}

void Scheduler::open(StreamRef stream, Priority priority) {
  const std::lock_guard lock(mutex_);
  queues_[stream] = std::make_shared<Queue>(stream, priority, base::derive_seed(seed_, to_string(stream)));
}

void Scheduler::close(StreamRef stream) {
  const std::lock_guard lock(mutex_);
  const auto is_over = [](const std::shared_ptr<Queue>& queue) {
    return queue->completed == queue->pushed && !queue->error;
  };
  std::erase_if(closed_, is_over);
  closed_.push_back(find(stream));
  queues_.erase(stream);
}

std::shared_ptr<Queue> Scheduler::find(StreamRef stream) {
  const auto found = queues_.find(stream);
  if (found == queues_.end()) {
    throw Error(ErrorKind::InvalidArgument, to_string(stream) + " does not exist or was destroyed");
  }
  return found->second;
}

void Scheduler::release(Lock& lock) {
  std::vector<std::shared_ptr<base::WaitQueue::Waiter>> woken;
  for (; to_wake_ > 0 && resting_.size() > 0; --to_wake_) woken.push_back(resting_.take());
  const bool wake_keeper = timer_is_kept_ && to_wake_ > 0;
  to_wake_ = 0;
  lock.unlock();
  for (const auto& each : woken) each->notify();
  if (wake_keeper) timer_changed_.notify_one();
}

void Scheduler::push(StreamRef stream, Work work) {
  Lock lock(mutex_);
  const std::shared_ptr<Queue> queue = find(stream);
  if (threads_.empty() && work.kind != Work::Kind::Record) start_thread();
  queue->works.push_back(std::move(work));
  ++queue->pushed;
  if (!queue->active) advance({queue});
  if (!spent_.empty()) ++to_wake_;
  release(lock);
}

bool Scheduler::is_idle(StreamRef stream) {
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<Queue> queue = find(stream);
  if (queue->error) throw base::Error(*queue->error);
  return queue->completed == queue->pushed;
}

// Each waiter has its own condition variable: waking hundreds of waiters, such as handlers of calls, for each step of
// any stream would only cause contention for the lock.
void Scheduler::wait_until(Lock& lock, const std::function<bool()>& is_over) {
  if (is_over()) return;
  HostWait wait{is_over, {}, false};
  host_waits_.push_back(&wait);
  wait.over.wait(lock, is_over);
  std::erase(host_waits_, &wait);
}

void Scheduler::wait_for_all(Lock& lock, const std::vector<std::shared_ptr<Queue>>& queues) {
  for (const std::shared_ptr<Queue>& queue : queues) {
    const std::uint64_t goal = queue->pushed;
    wait_until(lock, [&] { return queue->completed >= goal; });
  }
  std::optional<base::Error> error;
  for (const std::shared_ptr<Queue>& queue : queues) {
    const std::optional<base::Error> inherited = std::exchange(queue->inherited, std::nullopt);
    if (!error) error = queue->error ? queue->error : inherited;
  }
  if (error) throw base::Error(*error);
}

void Scheduler::synchronize(StreamRef stream) {
  Lock lock(mutex_);
  wait_for_all(lock, {find(stream)});
}

void Scheduler::synchronize_device(int device) {
  Lock lock(mutex_);
  std::vector<std::shared_ptr<Queue>> queues;
  for (const auto& [stream, queue] : queues_) {
    if (stream.device == device) queues.push_back(queue);
  }
  for (const std::shared_ptr<Queue>& queue : closed_) {
    if (queue->stream.device == device) queues.push_back(queue);
  }
  wait_for_all(lock, queues);
}

void Scheduler::synchronize(const std::shared_ptr<Point>& point) {
  Lock lock(mutex_);
  if (point->has_arrived) {
    std::condition_variable nobody_tells;
    while (!point->has_arrived()) nobody_tells.wait_for(lock, kAskAgain);
  } else {
    wait_until(lock, [&] { return point->done; });
  }
  if (point->error) throw base::Error(*point->error);
}

bool Scheduler::is_done(const std::shared_ptr<Point>& point) {
  const std::lock_guard lock(mutex_);
  return point->has_arrived ? point->has_arrived() : point->done;
}

std::optional<base::TimePoint> Scheduler::time_of(const std::shared_ptr<Point>& point) {
  const std::lock_guard lock(mutex_);
  return point->done ? std::optional(point->at) : std::nullopt;
}

// ---- under the lock

void Scheduler::advance(std::vector<std::shared_ptr<Queue>> queues) {
  while (!queues.empty()) {
    const std::shared_ptr<Queue> queue = std::move(queues.back());
    queues.pop_back();
    queue->active = true;
    while (!queue->works.empty() && step(queue, queues)) {
    }
    if (queue->works.empty()) queue->active = false;
  }
  for (HostWait* const each : host_waits_) {
    if (each->is_told || !each->is_over()) continue;
    each->is_told = true;
    each->over.notify_one();
  }
}

bool Scheduler::step(const std::shared_ptr<Queue>& queue, std::vector<std::shared_ptr<Queue>>& woken) {
  Work& head = queue->works.front();
  switch (head.kind) {
    case Work::Kind::Record: finish(*head.point, *queue, woken); break;
    case Work::Kind::Wait:
      if (wait_is_over(*head.point, queue)) break;
      if (queue->began_ns == 0) queue->began_ns = core::trace_now();
      return false;
    case Work::Kind::Busy:
      if (queue->error || queue->busy) {
        queue->busy = false;
        break;
      }
      queue->busy = true;
      queue->began_ns = core::trace_now();
      set_timer(base::deadline_after(head.length, now()), queue);
      return false;
    case Work::Kind::Kernel:
    case Work::Kind::Host:
      if (queue->error) break;
      if (!std::exchange(head.delayed, true) && queue->delays.below(kDelayOneOf) == 0) {
        set_timer(base::deadline_after(base::Nanoseconds(queue->delays.below(kDelayMaxNs)), now()), queue);
      } else {
        make_ready(queue);
      }
      return false;
  }
  pop(*queue);
  return true;
}

bool Scheduler::wait_is_over(Point& point, const std::shared_ptr<Queue>& queue) {
  if (!point.has_arrived) {
    if (!point.done) point.waiting.push_back(queue);
    if (!point.done) return false;
  } else if (!point.has_arrived()) {
    set_timer(now() + kAskAgain, queue);
    return false;
  }
  // The recording's work was not done, so later work on this stream is wrong. The stream itself stays usable: other
  // streams may have to continue without the process that ended.
  if (point.error && !queue->inherited) queue->inherited = point.error;
  return true;
}

void Scheduler::finish(Point& point, const Queue& queue, std::vector<std::shared_ptr<Queue>>& woken) {
  point.done = true;
  point.at = now();
  point.error = queue.error ? queue.error : queue.inherited;
  if (point.on_done) point.on_done();
  for (std::shared_ptr<Queue>& waiting : point.waiting) woken.push_back(std::move(waiting));
  point.waiting.clear();
}

void Scheduler::pop(Queue& queue) {
  if (const std::int64_t began = std::exchange(queue.began_ns, 0); began != 0) {
    trace_work(queue.works.front(), queue.stream, began);
  }
  if (queue.works.front().body) spent_.push_back(std::move(queue.works.front()));
  queue.works.pop_front();
  ++queue.completed;
}

void Scheduler::make_ready(const std::shared_ptr<Queue>& queue) {
  ready_.push_back(queue);
  start_thread_if_needed();
  ++to_wake_;
}

void Scheduler::set_timer(base::TimePoint due, const std::shared_ptr<Queue>& queue) {
  const bool is_first = timers_.empty() || due < timers_.begin()->first;
  timers_.emplace(due, queue);
  start_thread_if_needed();
  if (!is_first) return;
  if (timer_is_kept_) return timer_changed_.notify_one();
  // One is enough: waking all for each of the many timers of polling streams would cause contention for the lock.
  resting_.wake_one();
}

void Scheduler::fire_timers() {
  if (timers_.empty()) return;
  const base::TimePoint time = now();
  std::vector<std::shared_ptr<Queue>> due;
  while (!timers_.empty() && timers_.begin()->first <= time) {
    due.push_back(std::move(timers_.begin()->second));
    timers_.erase(timers_.begin());
  }
  if (!due.empty()) advance(std::move(due));
}

std::shared_ptr<Queue> Scheduler::take_ready() {
  if (ready_.empty()) return nullptr;
  const auto is_high = [](const std::shared_ptr<Queue>& queue) { return queue->priority == Priority::High; };
  auto chosen = std::find_if(ready_.begin(), ready_.end(), is_high);
  if (chosen == ready_.end()) chosen = ready_.begin() + static_cast<std::ptrdiff_t>(draw_.below(ready_.size()));
  std::shared_ptr<Queue> queue = std::move(*chosen);
  ready_.erase(chosen);
  if (to_wake_ > 0) --to_wake_;  // this thread takes the work
  return queue;
}

// ---- the threads

void Scheduler::start_thread() {
  threads_.emplace_back("distrun-vgpu" + std::to_string(threads_.size()), [this] { serve(); });
}

void Scheduler::start_thread_if_needed() noexcept {
  const int limit = std::min(kThreads + in_callbacks_, kThreadsMax);
  if (idle_ > 0 || stopping_ || static_cast<int>(threads_.size()) >= limit) return;
  try {
    start_thread();
  } catch (const base::Error&) {  // existing threads do the work; the next push tries again
  }
}

// The code may block, so another thread is started for other ready work.
template <class Code>
void Scheduler::run_user_code(Lock& lock, const Code& code) {
  ++in_callbacks_;
  if (!ready_.empty() || !timers_.empty()) start_thread_if_needed();
  if (!ready_.empty() || (!timers_.empty() && !timer_is_kept_)) ++to_wake_;  // the thread woken for it may be this one
  release(lock);
  code();
  lock.lock();
  --in_callbacks_;
}

void Scheduler::run_head(Lock& lock, const std::shared_ptr<Queue>& queue) {
  Work work = std::move(queue->works.front());
  std::optional<base::Error> error;
  const auto run = [&] {
    trace::Writer* const tracer = core::tracer();
    const std::string stream = tracer != nullptr ? to_string(queue->stream) : "";
    const core::TraceSlice traced(tracer, [&] { return slice_of(work, stream); });
    try {
      work.body();
    } catch (...) {
      error = current_error().while_doing(to_string(queue->stream));
    }
  };
  if (work.kind == Work::Kind::Host) {
    run_user_code(lock, run);
  } else {
    release(lock);
    run();
    lock.lock();
  }
  if (error && !queue->error) queue->error = std::move(error);
  pop(*queue);
  advance({queue});
  run_user_code(lock, [&work] { work.body = nullptr; });
}

void Scheduler::rest(Lock& lock) {
  std::vector<Work> spent;
  spent.swap(spent_);
  if (!spent.empty()) return run_user_code(lock, [&spent] { spent.clear(); });
  if (to_wake_ > 0) {
    release(lock);
    return lock.lock();  // there may be work now
  }
  ++idle_;
  // One of the resting threads waits for the timers.
  if (timers_.empty() || timer_is_kept_) {
    resting_.wait_until(lock);
  } else {
    timer_is_kept_ = true;
    const base::TimePoint due = timers_.begin()->first;  // a copy: the timer may be removed meanwhile
    timer_changed_.wait_until(lock, due);
    timer_is_kept_ = false;
  }
  --idle_;
}

void Scheduler::serve() {
  Lock lock(mutex_);
  while (!stopping_) {
    fire_timers();
    if (const std::shared_ptr<Queue> queue = take_ready()) {
      run_head(lock, queue);
    } else if (!stopping_) {
      rest(lock);
    }
  }
}

}  // namespace distrun::device::virtual_gpu

#include <distrun/runtime/collectives/call_queue.hpp>

#include <utility>

#include <distrun/runtime/core/wait.hpp>

namespace distrun::collectives {

class CallQueue::Task final : public future::HandlerTask {
 public:
  explicit Task(std::shared_ptr<CallQueue> queue) : queue_(std::move(queue)) {}
  void run() noexcept override { queue_->run_all(); }
  future::TaskInfo info() const noexcept override { return {.is_users = false}; }

 private:
  std::shared_ptr<CallQueue> queue_;
};

std::uint64_t CallQueue::try_begin() {
  const std::lock_guard lock(mutex_);
  if (busy_) return 0;
  busy_ = true;
  return ++given_;
}

void CallQueue::end() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.empty()) {
      busy_ = false;
      return;
    }
    if (try_start_handler()) return;
  }
  run_all();  // no handler is available: run the jobs here
}

void CallQueue::post(const std::function<Job(std::uint64_t)>& make) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(make(given_ + 1));
  if (!busy_) {
    try {
      start_handler();
    } catch (...) {
      jobs_.pop_back();  // as if it had not been posted
      throw;
    }
  }
  busy_ = true;
  ++given_;
  ++posted_;
}

std::uint64_t CallQueue::numbers_given() const {
  const std::lock_guard lock(mutex_);
  return given_;
}

void CallQueue::start_handler() { handlers_.post(std::make_unique<Task>(shared_from_this())); }

bool CallQueue::try_start_handler() noexcept {
  try {
    start_handler();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void CallQueue::run_all() noexcept {
  std::unique_lock lock(mutex_);
  while (!jobs_.empty()) {
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
    ++done_;
    ran_.notify_all();
  }
  busy_ = false;
}

void CallQueue::wait_for_posted(const board::WaitInfo& info, base::TimePoint deadline) const {
  std::unique_lock lock(mutex_);
  core::wait_until(info, lock, ran_, deadline, [this, last = posted_] { return done_ >= last; });
}

}  // namespace distrun::collectives

#include <distrun/runtime/store/watches.hpp>

#include <deque>
#include <mutex>
#include <utility>

#include <distrun/runtime/future/handler_pool.hpp>
#include <distrun/runtime/future/unseen_errors.hpp>

namespace distrun::stores {

// Calls its watch for one change at a time; changes that arrive during a call are queued.
class Watcher final : public std::enable_shared_from_this<Watcher> {
 public:
  Watcher(core::RankState& rank, Watch watch) : rank_(rank), watch_(std::move(watch)) {}

  // A change that is lost because memory is missing is reported. If no thread is available, that is reported too, and
  // the change is delivered with the next one.
  void tell(const Change& change) noexcept {
    try {
      if (!add(change)) return;
    } catch (const std::bad_alloc&) {
      return report(change.key, "missed a change", std::current_exception());
    }
    try {
      future::handler_pool_of(rank_).post(std::make_unique<Task>(shared_from_this()));
    } catch (const std::exception&) {
      set_idle();
      report(change.key, "was not called", std::current_exception());
    }
  }

 private:
  class Task final : public future::HandlerTask {
   public:
    explicit Task(std::shared_ptr<Watcher> watcher) : watcher_(std::move(watcher)) {}
    void run() noexcept override {
      while (watcher_->call_next()) {
      }
    }

   private:
    std::shared_ptr<Watcher> watcher_;
  };

  // Returns false if a task that delivers earlier changes will deliver this one, too.
  bool add(const Change& change) {
    const std::lock_guard lock(mutex_);
    changes_.push_back(change);
    return !std::exchange(is_busy_, true);
  }
  void set_idle() noexcept {
    const std::lock_guard lock(mutex_);
    is_busy_ = false;
  }
  void report(const std::string& key, const char* what, const std::exception_ptr& why) noexcept {
    future::unseen_errors_of(rank_).add_made(
        [&] { return "the watch of the key " + key + " " + what + ": " + future::describe_error(why); });
  }

  bool call_next() noexcept {
    Change next;
    {
      const std::lock_guard lock(mutex_);
      if (changes_.empty()) return is_busy_ = false;
      next = std::move(changes_.front());
      changes_.pop_front();
    }
    try {
      watch_(std::move(next.before), std::move(next.after));
    } catch (...) {
      report(next.key, "has thrown", std::current_exception());
    }
    return true;
  }

  core::RankState& rank_;
  const Watch watch_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<Change> changes_;
  bool is_busy_ = false;
};

// Creates the rank's list of unseen errors now: later that could fail for lack of memory.
Watches::Added Watches::add(const std::string& key, Watch watch) {
  core::RankState& rank = core::rank_state();
  future::unseen_errors_of(rank);
  return watchers_.emplace(key, std::make_shared<Watcher>(rank, std::move(watch)));
}

std::vector<std::string> Watches::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, watcher] : watchers_) keys.push_back(key);
  return keys;
}

void Watches::tell(const std::vector<Change>& changes) noexcept {
  for (const Change& change : changes) {
    const auto [first, last] = watchers_.equal_range(change.key);
    for (auto each = first; each != last; ++each) each->second->tell(change);
  }
}

}  // namespace distrun::stores

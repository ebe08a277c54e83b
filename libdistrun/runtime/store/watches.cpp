#include <distrun/runtime/store/watches.hpp>

#include <deque>
#include <mutex>

#include <distrun/runtime/future/handler_pool.hpp>
#include <distrun/runtime/future/unseen_errors.hpp>

namespace distrun::stores {

// One at a time: changes that come while its watch is called wait for that.
class Watcher final : public std::enable_shared_from_this<Watcher> {
 public:
  Watcher(core::RankState& rank, Watch watch) : rank_(rank), watch_(std::move(watch)) {}

  void tell(const Change& change) {
    {
      const std::lock_guard lock(mutex_);
      changes_.push_back(change);
      if (is_busy_) return;
      is_busy_ = true;
    }
    future::handler_pool_of(rank_).post(std::make_unique<Task>(shared_from_this()));
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
      future::unseen_errors_of(rank_).add("the watch of the key " + next.key +
                                          " has thrown: " + future::describe_error(std::current_exception()));
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

void Watches::add(const std::string& key, Watch watch) {
  watchers_.emplace(key, std::make_shared<Watcher>(core::rank_state(), std::move(watch)));
}

void Watches::tell(const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    const auto [first, last] = watchers_.equal_range(change.key);
    for (auto each = first; each != last; ++each) each->second->tell(change);
  }
}

}  // namespace distrun::stores

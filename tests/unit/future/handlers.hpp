#pragma once
// Helpers for tests of handlers: tasks, a door to block at, a place to idle in.
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <distrun/runtime/future/handler_pool.hpp>

#include "support/process.hpp"

namespace distrun::testing {

class Calls final : public future::HandlerTask {
 public:
  explicit Calls(std::function<void()> body) : body_(std::move(body)) {}
  void run() noexcept override { body_(); }

 private:
  std::function<void()> body_;
};

inline std::unique_ptr<Calls> task(std::function<void()> body) { return std::make_unique<Calls>(std::move(body)); }
inline void post(future::HandlerPool& pool, std::function<void()> body) { pool.post(task(std::move(body))); }

inline bool soon(const std::function<bool()>& question) { return eventually(std::chrono::seconds(30), question); }

// A door at which handlers block until it is opened, visible to the pool or not.
class Door {
 public:
  void pass_seen() {
    std::unique_lock lock(mutex_);
    core::wait_until({}, lock, changed_, core::kForever, [this] { return open_; });
  }
  void pass_unseen() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }
  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

// A place that gets tasks like others get messages.
class FakePlace final : public future::IdlePlace {
 public:
  explicit FakePlace(future::HandlerPool& pool) : pool_(pool) {}

  void idle(base::TimePoint until) noexcept override {
    std::unique_lock lock(mutex_);
    ++inside_;
    const auto is_over = [this] { return is_woken_ || !found_.empty(); };
    if (until == base::TimePoint::max()) {
      changed_.wait(lock, is_over);
    } else {
      changed_.wait_until(lock, until, is_over);
    }
    if (found_.empty()) {
      is_woken_ = false;
    } else {
      pool_.post_found(std::move(found_.front()));
      found_.erase(found_.begin());
      finder_ = std::this_thread::get_id();
    }
    --inside_;
  }
  void wake() noexcept override {
    {
      const std::lock_guard lock(mutex_);
      is_woken_ = true;
    }
    changed_.notify_one();
  }

  void find(std::function<void()> body) {
    {
      const std::lock_guard lock(mutex_);
      found_.push_back(task(std::move(body)));
    }
    changed_.notify_one();
  }
  int inside() const {
    const std::lock_guard lock(mutex_);
    return inside_;
  }
  std::thread::id finder() const {
    const std::lock_guard lock(mutex_);
    return finder_;
  }

 private:
  future::HandlerPool& pool_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<future::HandlerTask>> found_;
  bool is_woken_ = false;
  int inside_ = 0;
  std::thread::id finder_;
};

// A rank's pool with such a place, for a test.
struct Placed {
  explicit Placed(future::HandlerPool& pool_) : pool(pool_), place(std::make_shared<FakePlace>(pool)) {
    pool.use(place);
  }
  ~Placed() { pool.leave(*place); }

  future::HandlerPool& pool;
  const std::shared_ptr<FakePlace> place;
};

}  // namespace distrun::testing

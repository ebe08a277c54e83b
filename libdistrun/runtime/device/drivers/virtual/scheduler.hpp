#pragma once
// Who runs what is on the streams of virtual devices: some threads, started when there is work for them. A stream's
// work is done one piece after the other; which of several streams goes on, and after which delay, is drawn from a
// seed, so that what no order protects goes wrong sooner than on a real device. A stream that waits or is busy takes
// no thread.
//
//   idle -> delayed -> ready -> running -> idle ...     parked: waits for a point      busy: until a time
//
// Every call may come from any thread, and from within host callbacks too.
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/common/base/wait_queue.hpp>
#include <distrun/runtime/device/driver.hpp>
#include <distrun/runtime/device/drivers/virtual/stream_work.hpp>

namespace distrun::device::virtual_gpu {

class Scheduler {
 public:
  explicit Scheduler(std::uint64_t seed);
  // Work that is running comes to its end, what has not begun is dropped.
  ~Scheduler();

  void open(StreamRef stream, Priority priority);
  // What is on it is still done, and its device waited for.
  void close(StreamRef stream);
  // All of these throw Error{InvalidArgument} for a stream that is not open.
  // Throws Error{Overloaded}, and does nothing, if no thread can be started and there is none yet.
  void push(StreamRef stream, Work work);
  bool is_idle(StreamRef stream);
  // Throw what has gone wrong on the stream.
  void synchronize(StreamRef stream);
  void synchronize_device(int device);
  void synchronize(const std::shared_ptr<Point>& point);
  bool is_done(const std::shared_ptr<Point>& point);
  // When it was done; nothing if it is not.
  std::optional<base::TimePoint> time_of(const std::shared_ptr<Point>& point);

 private:
  using Lock = std::unique_lock<std::mutex>;
  // A thread of somebody's that waits for a queue or a point; on its stack, gone with the lock held.
  struct HostWait {
    const std::function<bool()>& is_over;
    std::condition_variable over;
    bool is_told = false;
  };

  // Unlocks, and only then wakes who has something to do now: woken before, they would wait for the lock.
  void release(Lock& lock);
  std::shared_ptr<Queue> find(StreamRef stream);
  void wait_until(Lock& lock, const std::function<bool()>& is_over);
  void wait_for_all(Lock& lock, const std::vector<std::shared_ptr<Queue>>& queues);
  // Begins whatever can begin on these queues, and on those that have waited for it.
  void advance(std::vector<std::shared_ptr<Queue>> queues);
  // The head of a queue; false if it has to wait.
  bool step(const std::shared_ptr<Queue>& queue, std::vector<std::shared_ptr<Queue>>& woken);
  bool wait_is_over(Point& point, const std::shared_ptr<Queue>& queue);
  void finish(Point& point, const Queue& queue, std::vector<std::shared_ptr<Queue>>& woken);
  void pop(Queue& queue);
  void make_ready(const std::shared_ptr<Queue>& queue);
  void set_timer(base::TimePoint due, const std::shared_ptr<Queue>& queue);
  void fire_timers();
  std::shared_ptr<Queue> take_ready();
  void run_head(Lock& lock, const std::shared_ptr<Queue>& queue);
  template <class Code>
  void run_user_code(Lock& lock, const Code& code);
  void rest(Lock& lock);
  void serve();
  void start_thread();
  void start_thread_if_needed() noexcept;
  void drop_works();

  const std::uint64_t seed_;
  std::mutex mutex_;
  // Guarded by mutex_.
  base::WaitQueue resting_;                // threads without work, but for the one that keeps the time
  std::condition_variable timer_changed_;  // for that one
  std::vector<HostWait*> host_waits_;
  std::map<StreamRef, std::shared_ptr<Queue>> queues_;
  std::vector<std::shared_ptr<Queue>> closed_;  // with what was left on them, or gone wrong
  std::vector<std::shared_ptr<Queue>> ready_;
  std::multimap<base::TimePoint, std::shared_ptr<Queue>> timers_;
  std::vector<Work> spent_;  // destroyed by the threads, without the lock: what it owns may come back here
  std::vector<base::Thread> threads_;
  base::Rng draw_;
  int idle_ = 0;          // threads that wait for work, or were woken for it and do not run yet
  int in_callbacks_ = 0;  // threads that may block in the user's code
  int to_wake_ = 0;       // threads, by whoever releases the lock
  bool timer_is_kept_ = false;
  bool stopping_ = false;
};

}  // namespace distrun::device::virtual_gpu

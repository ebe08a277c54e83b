#pragma once
// Runs the work on the streams of virtual devices with a few threads, started when there is work. A stream's work runs
// in order; which of several streams continues, and after which delay, is drawn from a seed, so that errors of missing
// order show sooner than on a real device. A stream that waits or is busy needs no thread.
//
//   idle -> delayed -> ready -> running -> idle ...     parked: waits for a point      busy: until a time
//
// Thread-safe; may also be called from host callbacks.
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
  // Running work completes; work that has not begun is dropped.
  ~Scheduler();

  void open(StreamRef stream, Priority priority);
  // Pending work still completes, and is awaited by waits for its device.
  void close(StreamRef stream);
  // All of these throw Error{InvalidArgument} for a stream that is not open. push() throws Error{Overloaded}, and does
  // nothing, if no thread exists and none can be started.
  void push(StreamRef stream, Work work);
  bool is_idle(StreamRef stream);
  // Throw an error of the stream's work.
  void synchronize(StreamRef stream);
  void synchronize_device(int device);
  void synchronize(const std::shared_ptr<Point>& point);
  bool is_done(const std::shared_ptr<Point>& point);
  // Returns when it was done; nothing if it is not.
  std::optional<base::TimePoint> time_of(const std::shared_ptr<Point>& point);

 private:
  using Lock = std::unique_lock<std::mutex>;
  // A caller's thread that waits for a queue or a point; on its stack, removed with the lock held.
  struct HostWait {
    const std::function<bool()>& is_over;
    std::condition_variable over;
    bool is_told = false;
  };

  // Unlocks, and wakes threads only then: woken before, they would have to wait for the lock.
  void release(Lock& lock);
  std::shared_ptr<Queue> find(StreamRef stream);
  void wait_until(Lock& lock, const std::function<bool()>& is_over);
  void wait_for_all(Lock& lock, const std::vector<std::shared_ptr<Queue>>& queues);
  // Begins all work that can begin on these queues, and on those that wait for it.
  void advance(std::vector<std::shared_ptr<Queue>> queues);
  // Handles the head of a queue; returns false if it has to wait.
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
  base::WaitQueue resting_;                // threads without work, except the one that waits for the timers
  std::condition_variable timer_changed_;  // for that thread
  std::vector<HostWait*> host_waits_;
  std::map<StreamRef, std::shared_ptr<Queue>> queues_;
  std::vector<std::shared_ptr<Queue>> closed_;  // with pending work or errors
  std::vector<std::shared_ptr<Queue>> ready_;
  std::multimap<base::TimePoint, std::shared_ptr<Queue>> timers_;
  std::vector<Work> spent_;  // destroyed by the threads, without the lock: its objects may call the scheduler
  std::vector<base::Thread> threads_;
  base::Rng draw_;
  int idle_ = 0;          // threads that wait for work, or are woken and do not run yet
  int in_callbacks_ = 0;  // threads in user code, which may block
  int to_wake_ = 0;       // threads to wake when the lock is released
  bool timer_is_kept_ = false;
  bool stopping_ = false;
};

}  // namespace distrun::device::virtual_gpu

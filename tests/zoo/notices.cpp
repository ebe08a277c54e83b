// Threads of rank 1 that wait for a notice: condition variables, semaphores, latches, futures, joins, static variables.
#include <pthread.h>
#include <semaphore.h>

#include <barrier>
#include <condition_variable>
#include <deque>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

#include "zoo.hpp"

namespace {

using zoo::others_meet;

struct Notice {
  std::mutex mutex;
  std::condition_variable changed;
  bool given = false;
};

void wait_for(Notice& notice) {
  std::unique_lock lock(notice.mutex);
  while (!notice.given) notice.changed.wait(lock);  // culprit: wait_for_notice
}

// Each needs the other's value.
struct Left;
struct Right;
std::atomic<int> initialising{0};

void meet_in_initialisers() {
  ++initialising;
  while (initialising < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

int left();
int right();
int begin_left() {
  meet_in_initialisers();
  return right() + 1;  // culprit: static_of_two
}
int begin_right() {
  meet_in_initialisers();
  return left() + 1;  // culprit: static_of_two
}
int left() {
  static const int value = begin_left();  // culprit: static_of_two
  return value;
}
int right() {
  static const int value = begin_right();  // culprit: static_of_two
  return value;
}

// A pool of two threads; a task waits for another one by its future.
class Pool {
 public:
  Pool() {
    for (int i = 0; i < 2; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Pool() {
    for (std::thread& thread : threads_) thread.join();
  }
  std::future<int> run(std::function<int()> task) {
    auto packed = std::make_shared<std::packaged_task<int()>>(std::move(task));
    auto result = packed->get_future();
    const std::lock_guard lock(mutex_);
    tasks_.emplace_back([packed] { (*packed)(); });
    changed_.notify_one();
    return result;
  }

 private:
  void work() {
    for (;;) take()();
  }
  std::function<void()> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !tasks_.empty(); });
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    return task;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
};

void starve_pool() {
  static Pool& pool = *new Pool;
  std::latch both_run(2);
  const auto task = [&both_run] {
    both_run.arrive_and_wait();
    return pool.run([] { return 1; }).get();  // culprit: starved_pool
  };
  auto one = pool.run(task);
  auto two = pool.run(task);
  one.get();
  two.get();
}

}  // namespace

// The only thread that could notify has ended.
DISTRUN_TEST(Notices, whose_notifier_is_gone) {
  others_meet(rank, [] {
    static Notice notice;
    std::thread([] { const std::lock_guard lock(notice.mutex); }).join();
    wait_for(notice);
  });
}

DISTRUN_TEST(Notices, given_too_early) {
  others_meet(rank, [] {
    static Notice notice;
    notice.changed.notify_all();
    std::unique_lock lock(notice.mutex);
    notice.changed.wait(lock);  // culprit: given_too_early
  });
}

DISTRUN_TEST(Notices, whose_notifier_sleeps) {
  others_meet(rank, [] {
    static Notice notice;
    std::thread notifier([] {
      sleep(zoo::kPatienceS);  // culprit: notifier_sleeps
      notice.changed.notify_all();
    });
    wait_for(notice);
    notifier.join();
  });
}

DISTRUN_TEST(Notices, of_a_semaphore_nobody_posts) {
  others_meet(rank, [] {
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    sem_wait(&semaphore);  // culprit: semaphore
    sem_destroy(&semaphore);
  });
}

DISTRUN_TEST(Notices, of_a_binary_semaphore) {
  others_meet(rank, [] {
    std::binary_semaphore semaphore(0);
    semaphore.acquire();  // culprit: binary_semaphore
    semaphore.release();
  });
}

DISTRUN_TEST(Notices, of_a_latch_one_short) {
  others_meet(rank, [] {
    std::latch latch(3);
    std::thread helper([&latch] { latch.count_down(); });
    helper.join();
    latch.arrive_and_wait();  // culprit: latch_one_short
  });
}

DISTRUN_TEST(Notices, of_a_thread_barrier_one_short) {
  others_meet(rank, [] {
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, 3);
    std::thread helper([&barrier] { pthread_barrier_wait(&barrier); });
    pthread_barrier_wait(&barrier);  // culprit: thread_barrier
    helper.join();
  });
}

DISTRUN_TEST(Notices, of_a_promise_that_is_lost) {
  others_meet(rank, [] {
    static std::promise<int> promise;  // lives on: a destructor would break the promise
    std::thread([] { (void)promise; }).join();
    promise.get_future().wait();  // culprit: promise_lost
  });
}

DISTRUN_TEST(Notices, of_an_async_task_that_sleeps) {
  others_meet(rank, [] {
    auto task = std::async(std::launch::async, [] {
      sleep(zoo::kPatienceS);  // culprit: async_task_sleeps
      return 1;
    });
    task.get();
  });
}

DISTRUN_TEST(Notices, of_an_atomic_nobody_changes) {
  others_meet(rank, [] {
    std::atomic<int> value{0};
    value.wait(0);  // culprit: atomic
    value = 1;
  });
}

DISTRUN_TEST(Notices, of_a_thread_that_sleeps) {
  others_meet(rank, [] {
    std::thread helper([] {
      sleep(zoo::kPatienceS);  // culprit: joined_sleeps
    });
    helper.join();
  });
}

// Threads that join each other.
DISTRUN_TEST(Notices, of_threads_that_join_each_other) {
  others_meet(rank, [] {
    const pthread_t main = pthread_self();
    std::thread helper([main] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      // pthread_join() would see the cycle: an old-fashioned wait for the thread's work does not.
      while (pthread_tryjoin_np(main, nullptr) != 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // culprit: tryjoin
    });
    helper.join();
  });
}

DISTRUN_TEST(Notices, of_two_static_variables) {
  others_meet(rank, [] {
    std::thread helper([] { left(); });
    right();
    helper.join();
  });
}

DISTRUN_TEST(Notices, of_call_once_that_sleeps) {
  others_meet(rank, [] {
    static std::once_flag once;
    std::atomic<bool> begun{false};
    std::thread helper([&begun] {
      std::call_once(once, [&begun] {
        begun = true;
        sleep(zoo::kPatienceS);  // culprit: call_once_sleeps
      });
    });
    zoo::await(begun);
    std::call_once(once, [] {});
    helper.join();
  });
}

DISTRUN_TEST(Notices, of_a_starved_pool) { others_meet(rank, starve_pool); }

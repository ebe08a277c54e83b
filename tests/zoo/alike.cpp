// Tests that only look like hangs. Each takes one to two seconds, so that a snapshot sees it in the middle, and passes
// unless its row says otherwise.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "zoo.hpp"

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kLong = 1500ms;

// Calls `step` again and again for kLong.
template <class Step>
void for_long(Step step) {
  for (const auto end = Clock::now() + kLong; Clock::now() < end;) step();
}

void run_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

void compute(int rounds) {
  volatile double sum = 0;
  for (int i = 1; i < rounds; ++i) sum = sum + 1.0 / i;
}

int count_paths(int width, int height) {  // NOLINT(misc-no-recursion)
  return width == 0 || height == 0 ? 1 : count_paths(width - 1, height) + count_paths(width, height - 1);
}

void touch_pages() {
  constexpr std::size_t kSize = 8 << 20;
  auto* const memory =
      static_cast<char*>(mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (memory == MAP_FAILED) return;
  for (std::size_t at = 0; at < kSize; at += 4096) memory[at] = 1;
  munmap(memory, kSize);
}

// Wants `other` for a time only, while it holds `own`; then puts `own` back.
void try_both(std::timed_mutex& own, std::timed_mutex& other) {
  const std::lock_guard lock(own);
  if (other.try_lock_for(700ms)) other.unlock();
}

sem_t resumed;
std::atomic<int> suspended{0};
void suspend(int) {
  ++suspended;
  while (sem_wait(&resumed) != 0) {
  }
}

// Stops all threads, as a garbage collector does, and lets them go on.
void stop_the_world(const std::vector<std::thread>& world) {
  suspended = 0;
  for (const std::thread& each : world) pthread_kill(const_cast<std::thread&>(each).native_handle(), SIGUSR2);
  while (suspended < static_cast<int>(world.size())) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(kLong);
  for (std::size_t i = 0; i < world.size(); ++i) sem_post(&resumed);
}

void wake(int) {}

sem_t alarmed;
void post_alarm(int) { sem_post(&alarmed); }

void set_alarm(void (*handler)(int)) {
  std::signal(SIGALRM, handler);
  itimerval timer{};
  timer.it_value.tv_sec = 1;
  timer.it_value.tv_usec = 500'000;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

std::mutex background_one;
std::mutex background_two;
void lock_in_background(std::mutex& own, std::mutex& other) {
  std::thread([&own, &other] {
    const std::lock_guard lock(own);
    std::this_thread::sleep_for(50ms);
    const std::lock_guard never(other);
  }).detach();
}

}  // namespace

DISTRUN_TEST(Alike, sleeps_in_a_loop) {
  for_long([] { std::this_thread::sleep_for(1ms); });
  rank.barrier("meet");
}

DISTRUN_TEST(Alike, computes) {
  if (rank.rank() == 1) for_long([] { compute(100'000); });
  rank.barrier("meet");
}

DISTRUN_TEST(Alike, recurses) {
  if (rank.rank() == 1) for_long([] { (void)count_paths(10, 10); });
  rank.barrier("meet");
}

DISTRUN_TEST(Alike, faults_pages) {
  if (rank.rank() == 1) for_long(touch_pages);
  rank.barrier("meet");
}

DISTRUN_TEST(Alike, allocates_in_all_threads) {
  run_threads(4, [](int) {
    for_long([] { const std::map<int, std::string> some{{1, std::string(100, 'a')}, {2, std::string(5000, 'b')}}; });
  });
}

DISTRUN_TEST(Alike, contends_for_a_mutex) {
  std::mutex mutex;
  run_threads(4, [&mutex](int) {
    for_long([&mutex] {
      const std::lock_guard lock(mutex);
      compute(1000);
    });
  });
}

DISTRUN_TEST(Alike, contends_for_two_mutexes) {
  std::mutex one;
  std::mutex two;
  run_threads(4, [&one, &two](int i) {
    for_long([&one, &two, i] {
      const std::scoped_lock both(i % 2 == 0 ? one : two, i % 2 == 0 ? two : one);
      compute(1000);
    });
  });
}

DISTRUN_TEST(Alike, changes_hands_of_a_spin_lock) {
  std::atomic_flag taken;
  run_threads(2, [&taken](int) {
    for_long([&taken] {
      while (taken.test_and_set()) sched_yield();
      compute(1000);
      taken.clear();
    });
  });
}

DISTRUN_TEST(Alike, has_a_cycle_until_a_deadline) {
  std::timed_mutex one;
  std::timed_mutex two;
  run_threads(2, [&](int i) { for_long([&] { i == 0 ? try_both(one, two) : try_both(two, one); }); });
}

DISTRUN_TEST(Alike, waits_with_deadlines) {
  std::mutex mutex;
  std::condition_variable never;
  for_long([&] {
    std::unique_lock lock(mutex);
    never.wait_for(lock, 300ms);
  });
}

DISTRUN_TEST(Alike, polls_with_timeouts) {
  const int set = epoll_create1(0);
  epoll_event event{};
  for_long([&] { epoll_wait(set, &event, 1, 10); });
  close(set);
}

DISTRUN_TEST(Alike, plays_ping_pong_over_pipes) {
  int there[2];
  int back[2];
  DISTRUN_REQUIRE(pipe(there) == 0);
  DISTRUN_REQUIRE(pipe(back) == 0);
  std::thread other([&] {
    char byte = 0;
    while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1) {
    }
  });
  char byte = 'x';
  for_long([&] {
    DISTRUN_REQUIRE(write(there[1], &byte, 1) == 1);
    DISTRUN_REQUIRE(read(back[0], &byte, 1) == 1);
  });
  close(there[1]);
  other.join();
}

DISTRUN_TEST(Alike, has_a_late_rank) {
  if (rank.rank() == 1) std::this_thread::sleep_for(kLong);
  rank.barrier("meet");
}

DISTRUN_TEST(Alike, has_a_late_message) {
  if (rank.rank() == 1) std::this_thread::sleep_for(kLong), rank.send(0, "late", "");
  if (rank.rank() == 0) rank.receive(1, "late");
  rank.barrier("meet");
}

DISTRUN_TEST(Alike, exits_slowly) {
  DISTRUN_EXPECT(true);
  if (rank.rank() == 1) std::atexit([] { std::this_thread::sleep_for(kLong); });
}

DISTRUN_TEST(Alike, writes_much) {
  const std::string path = std::string(rank.work_dir()) + "/much";
  const std::string much(1 << 20, 'x');
  for_long([&] { std::ofstream(path, std::ios::binary) << much << std::flush; });
}

DISTRUN_TEST(Alike, stops_the_world) {
  sem_init(&resumed, 0, 0);
  std::signal(SIGUSR2, suspend);
  std::atomic<bool> done{false};
  std::vector<std::thread> world;
  for (int i = 0; i < 3; ++i) {
    world.emplace_back([&done] {
      while (!done) std::this_thread::sleep_for(1ms);
    });
  }
  stop_the_world(world);
  done = true;
  for (std::thread& thread : world) thread.join();
}

// The pool's threads wait for work that never comes; that is what they are for.
DISTRUN_TEST(Alike, has_a_pool_without_work) {
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  std::thread main([&] {
    for_long([] { std::this_thread::sleep_for(5ms); });
    const std::lock_guard lock(mutex);
    over = true;
    changed.notify_all();
  });
  run_threads(4, [&](int) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&over] { return over; });
  });
  main.join();
}

// A deadlock of threads that no rank waits for.
DISTRUN_TEST(Alike, has_a_deadlock_in_the_background) {
  lock_in_background(background_one, background_two);
  lock_in_background(background_two, background_one);
  for_long([] { std::this_thread::sleep_for(5ms); });
  rank.barrier("meet");
}

DISTRUN_TEST(Alike, waits_for_a_timerfd) {
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  itimerspec after{};
  after.it_value = {1, 500'000'000};
  timerfd_settime(timer, 0, &after, nullptr);
  std::uint64_t count = 0;
  DISTRUN_EXPECT(read(timer, &count, sizeof count) == sizeof count);
  close(timer);
}

DISTRUN_TEST(Alike, waits_for_an_alarm) {
  set_alarm(wake);
  pause();
}

// Only a signal handler posts.
DISTRUN_TEST(Alike, waits_for_what_a_handler_posts) {
  sem_init(&alarmed, 0, 0);
  set_alarm(post_alarm);
  while (sem_wait(&alarmed) != 0) {
  }
}

DISTRUN_TEST(Alike, waits_for_a_slow_holder) {
  std::mutex mutex;
  std::atomic<bool> held{false};
  std::thread holder([&] {
    const std::lock_guard lock(mutex);
    held = true;
    std::this_thread::sleep_for(kLong);
  });
  zoo::await(held);
  mutex.lock();
  mutex.unlock();
  holder.join();
}

DISTRUN_TEST(Alike, waits_for_a_slow_child) {
  const pid_t child = fork();
  if (child == 0) {
    std::this_thread::sleep_for(kLong);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

// The bodies wait for each other, but another thread of rank 1 sends what rank 0 waits for.
DISTRUN_TEST(Alike, is_answered_by_another_thread) {
  std::thread helper([&rank] {
    std::this_thread::sleep_for(kLong);
    if (rank.rank() == 1) rank.send(0, "answer", "");
  });
  rank.receive(1 - rank.rank(), rank.rank() == 0 ? "answer" : "thanks");
  if (rank.rank() == 0) rank.send(1, "thanks", "");
  helper.join();
}

DISTRUN_TEST(Alike, sends_back_and_forth) {
  const int other = 1 - rank.rank();
  bool over = false;
  const auto end = Clock::now() + kLong;
  while (!over) {
    if (rank.rank() == 0) rank.send(other, "ball", Clock::now() > end ? "last" : "");
    over = rank.receive(other, "ball") == "last";
    if (rank.rank() == 1) rank.send(other, "ball", over ? "last" : "");
  }
}

DISTRUN_TEST(Alike, meets_again_and_again) {
  for (int i = 0; i < 150; ++i) {
    if (rank.rank() == 1) std::this_thread::sleep_for(10ms);
    rank.barrier("step");
  }
}

// ---- too slow for their bound, but not stuck

DISTRUN_TEST(Slow, in_small_steps) {
  for (int i = 0; i < 1000; ++i) {
    if (rank.rank() == 1) std::this_thread::sleep_for(10ms);
    rank.barrier("step");
  }
}

DISTRUN_TEST(Slow, in_one_computation) {
  if (rank.rank() == 1) {
    for (int i = 0; i < 5; ++i) for_long([] { compute(100'000); });
  }
  rank.barrier("meet");
}

// A program without distrun that hangs in the way that its argument names, or only looks like it.
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <latch>
#include <mutex>
#include <string_view>
#include <thread>

#include "../support/end_with.hpp"

namespace hung {

// Not inlined, so that it has a name in stacks.
[[gnu::noinline]] void lock_both(std::mutex& first, std::mutex& second, std::latch& both) {
  const std::lock_guard hold(first);
  both.arrive_and_wait();
  const std::lock_guard want(second);
}

int cross_mutexes() {
  std::mutex a;
  std::mutex b;
  std::latch both(2);
  std::thread worker([&] {
    pthread_setname_np(pthread_self(), "worker");
    lock_both(b, a, both);
  });
  lock_both(a, b, both);
  worker.join();
  return 0;
}

[[gnu::noinline]] void sleep_with_lock() { std::this_thread::sleep_for(std::chrono::hours(1)); }

int wait_for_sleeper() {
  std::mutex mutex;
  std::latch taken(1);
  std::thread holder([&] {
    pthread_setname_np(pthread_self(), "holder");
    const std::lock_guard hold(mutex);
    taken.count_down();
    sleep_with_lock();
  });
  taken.wait();
  const std::lock_guard want(mutex);
  holder.join();
  return 0;
}

// A process that ends with this one. Returns 0 in it.
pid_t start_child() {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) distrun::testing::end_with(parent);
  return child;
}

// A pair of pipes, by which two processes meet once.
struct Meeting {
  int up[2];
  int down[2];
  Meeting() {
    if (::pipe2(up, O_CLOEXEC) != 0 || ::pipe2(down, O_CLOEXEC) != 0) _exit(9);
  }
  void meet(bool is_child) {
    char byte = 0;
    const bool said = ::write(is_child ? up[1] : down[1], &byte, 1) == 1;
    if (!said || ::read(is_child ? down[0] : up[0], &byte, 1) != 1) _exit(9);
  }
};

int cross_locks(const char* one, const char* other) {
  Meeting meeting;
  const bool is_child = start_child() == 0;
  const int mine = ::open(is_child ? other : one, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const int next = ::open(is_child ? one : other, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ::flock(mine, LOCK_EX);
  meeting.meet(is_child);
  return ::flock(next, LOCK_EX);
}

// Both read before they write.
int cross_pipes() {
  Meeting meeting;
  const bool is_child = start_child() == 0;
  ::close(is_child ? meeting.up[0] : meeting.up[1]);
  ::close(is_child ? meeting.down[1] : meeting.down[0]);
  char byte = 0;
  return ::read(is_child ? meeting.down[0] : meeting.up[0], &byte, 1) == 1 ? 0 : 1;
}

[[gnu::noinline]] void compute() {
  static std::atomic<unsigned> sum{0};
  for (;;) sum.fetch_add(1, std::memory_order_relaxed);
}

// Two threads that often wait for each other's mutex, but never for long.
int contend() {
  std::mutex mutex;
  std::atomic<unsigned> sum{0};
  const auto work = [&] {
    for (;;) {
      const std::lock_guard hold(mutex);
      for (unsigned i = 0; i < 1000; ++i) sum.fetch_add(i, std::memory_order_relaxed);
    }
  };
  std::thread other(work);
  work();
  other.join();
  return 0;
}

}  // namespace hung

int main(int argc, char** argv) {
  using namespace std::string_view_literals;
  const std::string_view how = argc > 1 ? argv[1] : "";
  if (how == "mutexes"sv) return hung::cross_mutexes();
  if (how == "sleeper"sv) return hung::wait_for_sleeper();
  if (how == "locks"sv && argc > 3) return hung::cross_locks(argv[2], argv[3]);
  if (how == "pipes"sv) return hung::cross_pipes();
  if (how == "computes"sv) hung::compute();
  if (how == "contends"sv) return hung::contend();
  std::fprintf(stderr, "unknown way to hang\n");
  return 2;
}

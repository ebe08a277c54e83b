// The processes that the probe's benchmark inspects: `stacks_world RANKS THREADS` forks processes with threads that
// wait in a few distinct places, as ranks of a hung test do, and prints their pids once all have got there.
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

namespace world {

#define DISTRUN_KEPT __attribute__((noinline))

struct Queue {
  std::mutex mutex;
  std::condition_variable filled;
  std::vector<int> items;

  DISTRUN_KEPT int take(std::latch& there) {
    std::unique_lock lock(mutex);
    there.count_down();
    filled.wait(lock, [this] { return !items.empty(); });
    return items.back();
  }
};

Queue g_queue;
std::promise<int> g_promise;
std::shared_future<int> g_future = g_promise.get_future().share();
int g_pipe[2];

DISTRUN_KEPT void serve_queue(std::latch& there) {
  while (g_queue.take(there) != 0) {
  }
}

DISTRUN_KEPT void wait_for_reply(std::latch& there) {
  there.count_down();
  if (g_future.get() != 0) std::abort();
}

DISTRUN_KEPT void read_socket(std::latch& there) {
  char byte = 0;
  there.count_down();
  if (::read(g_pipe[0], &byte, 1) != 1) std::abort();
}

DISTRUN_KEPT void recurse(std::latch& there, int depth) {
  if (depth > 0) return recurse(there, depth - 1), static_cast<void>(there.try_wait());
  wait_for_reply(there);
}

void run_thread(int number, std::latch& there) {
  switch (number % 4) {
    case 0: serve_queue(there); break;
    case 1: wait_for_reply(there); break;
    case 2: read_socket(there); break;
    default: recurse(there, 8); break;
  }
}

[[noreturn]] void run_rank(int threads, int told) {
  std::latch there(threads - 1);
  std::vector<std::thread> all;
  for (int i = 1; i < threads; ++i) all.emplace_back([i, &there] { run_thread(i, there); });
  there.wait();
  if (::write(told, "x", 1) != 1) std::abort();
  for (;;) ::pause();
}

}  // namespace world

int main(int argc, char** argv) {
  if (argc != 3 || ::pipe(world::g_pipe) != 0) return 2;
  const int ranks = std::atoi(argv[1]);
  int told[2];
  if (::pipe(told) != 0) return 1;
  for (int i = 0; i < ranks; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) world::run_rank(std::atoi(argv[2]), told[1]);
    std::printf("%d\n", pid);
  }
  char byte = 0;
  for (int i = 0; i < ranks; ++i) {
    if (::read(told[0], &byte, 1) != 1) return 1;
  }
  std::puts("ready");
  std::fflush(stdout);
  ::pause();
}

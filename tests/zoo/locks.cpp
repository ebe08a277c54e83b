// Threads of rank 1 that wait for locks.
#include <pthread.h>
#include <semaphore.h>

#include <csignal>
#include <latch>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "zoo.hpp"

namespace {

using zoo::others_meet;

std::mutex first;
std::mutex second;
std::mutex third;

// Locks one mutex, and the other when all threads have locked theirs.
void lock_two(std::mutex& own, std::mutex& next, std::latch& all_have_one) {
  const std::lock_guard one(own);
  all_have_one.arrive_and_wait();
  const std::lock_guard two(next);  // culprit: lock_two
}

void lock_in_opposite_order() {
  std::latch both_have_one(2);
  std::thread other([&] { lock_two(second, first, both_have_one); });
  lock_two(first, second, both_have_one);
  other.join();
}

void lock_in_a_ring() {
  std::latch all_have_one(3);
  std::thread one([&] { lock_two(first, second, all_have_one); });
  std::thread two([&] { lock_two(second, third, all_have_one); });
  std::thread three([&] { lock_two(third, first, all_have_one); });
  one.join();
  two.join();
  three.join();
}

// Waits for a mutex that a thread holds while it runs `hold`.
template <class Mutex>
void wait_for_holder(Mutex& mutex, const std::function<void()>& hold) {
  std::atomic<bool> held{false};
  std::thread holder([&] {
    mutex.lock();
    held = true;
    hold();
  });
  zoo::await(held);
  mutex.lock();
  holder.join();
}

void compute_for_ever() {
  volatile double sum = 0;
  for (int i = 1;; i = i % 1000 + 1) sum = sum + 1.0 / i;  // culprit: holder_computes
}

pthread_mutex_t interrupted = PTHREAD_MUTEX_INITIALIZER;

void lock_in_handler(int) {
  pthread_mutex_lock(&interrupted);  // culprit: handler_locks
  pthread_mutex_unlock(&interrupted);
}

void interrupt_while_locked() {
  pthread_mutex_lock(&interrupted);
  std::signal(SIGUSR1, lock_in_handler);
  raise(SIGUSR1);
  pthread_mutex_unlock(&interrupted);
}

}  // namespace

DISTRUN_TEST(Locks, locked_twice) {
  others_meet(rank, [] {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);  // culprit: locked_twice
  });
}

DISTRUN_TEST(Locks, of_two_in_opposite_order) { others_meet(rank, lock_in_opposite_order); }

DISTRUN_TEST(Locks, of_three_in_a_ring) { others_meet(rank, lock_in_a_ring); }

DISTRUN_TEST(Locks, whose_holder_sleeps) {
  others_meet(rank, [] {
    wait_for_holder(first, [] {
      sleep(zoo::kPatienceS);  // culprit: holder_sleeps
    });
  });
}

DISTRUN_TEST(Locks, whose_holder_computes) {
  others_meet(rank, [] { wait_for_holder(first, compute_for_ever); });
}

DISTRUN_TEST(Locks, whose_holder_reads) {
  others_meet(rank, [] {
    int ends[2];
    if (pipe(ends) != 0) return;
    wait_for_holder(first, [&] {
      char byte = 0;
      (void)!read(ends[0], &byte, 1);  // culprit: holder_reads
      byte = 1;
    });
  });
}

DISTRUN_TEST(Locks, whose_holder_has_exited) {
  others_meet(rank, [] {
    static std::mutex mutex;
    std::thread([] { mutex.lock(); }).join();
    mutex.lock();  // culprit: holder_has_exited
    mutex.unlock();
  });
}

// The holder waits for rank 0, which waits for this rank.
DISTRUN_TEST(Locks, whose_holder_waits_for_a_rank) {
  others_meet(rank, [&rank] {
    wait_for_holder(first, [&rank] {
      rank.receive(0, "what rank 0 sends after the barrier");  // culprit: holder_waits
    });
  });
}

DISTRUN_TEST(Locks, recursive_of_a_sleeper) {
  others_meet(rank, [] {
    static std::recursive_mutex mutex;
    wait_for_holder(mutex, [] {
      mutex.lock();
      sleep(zoo::kPatienceS);  // culprit: recursive_sleeper
    });
  });
}

DISTRUN_TEST(Locks, shared_by_a_sleeping_reader) {
  others_meet(rank, [] {
    static std::shared_mutex mutex;
    std::atomic<bool> held{false};
    std::thread reader([&held] {
      mutex.lock_shared();
      held = true;
      sleep(zoo::kPatienceS);  // culprit: sleeping_reader
    });
    zoo::await(held);
    mutex.lock();
    reader.join();
  });
}

DISTRUN_TEST(Locks, shared_behind_a_sleeping_writer) {
  others_meet(rank, [] {
    static std::shared_mutex mutex;
    std::atomic<bool> held{false};
    std::thread writer([&held] {
      mutex.lock();
      held = true;
      sleep(zoo::kPatienceS);  // culprit: sleeping_writer
    });
    zoo::await(held);
    mutex.lock_shared();
    writer.join();
  });
}

DISTRUN_TEST(Locks, read_then_written_by_one_thread) {
  others_meet(rank, [] {
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_wrlock(&lock);  // culprit: read_then_written
  });
}

// The main thread holds what the thread that it joins wants.
DISTRUN_TEST(Locks, held_while_joining) {
  others_meet(rank, [] {
    const std::lock_guard lock(first);
    std::thread helper([] {
      const std::lock_guard same(first);  // culprit: held_while_joining
    });
    helper.join();  // culprit: held_while_joining
  });
}

DISTRUN_TEST(Locks, in_a_signal_handler) { others_meet(rank, interrupt_while_locked); }

// A lock, a semaphore and a join: the helper posts only after it has had the lock.
DISTRUN_TEST(Locks, held_while_a_semaphore_is_awaited) {
  others_meet(rank, [] {
    sem_t posted;
    sem_init(&posted, 0, 0);
    const std::lock_guard lock(first);
    std::thread helper([&posted] {
      const std::lock_guard same(first);  // culprit: held_while_awaiting
      sem_post(&posted);
    });
    sem_wait(&posted);  // culprit: held_while_awaiting
    helper.join();
  });
}

// Ranks that wait for locks: of files, and in memory that they share.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <latch>
#include <mutex>
#include <thread>

#include "program.hpp"

using namespace zoo;

namespace {

int open_shared(const char* name) {
  const int file = open(shared(name).c_str(), O_CREAT | O_RDWR, 0600);
  require(file >= 0, "cannot open");
  return file;
}

int lock_record(int file, int command) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  return fcntl(file, command, &lock);
}

struct SharedMutex {
  pthread_mutex_t mutex;
  pthread_rwlock_t rwlock;
  pthread_cond_t condition;
  sem_t semaphore;
};

// Rank 0 initialises it, before the others get it.
SharedMutex& shared_mutex() {
  auto& all = *static_cast<SharedMutex*>(map_shared("locks", sizeof(SharedMutex)));
  if (me() != 0) return await("initialised"), all;
  pthread_mutexattr_t mutex;
  pthread_mutexattr_init(&mutex);
  pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&all.mutex, &mutex);
  pthread_rwlockattr_t rwlock;
  pthread_rwlockattr_init(&rwlock);
  pthread_rwlockattr_setpshared(&rwlock, PTHREAD_PROCESS_SHARED);
  pthread_rwlock_init(&all.rwlock, &rwlock);
  pthread_condattr_t condition;
  pthread_condattr_init(&condition);
  pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
  pthread_cond_init(&all.condition, &condition);
  sem_init(&all.semaphore, 1, 0);
  announce("initialised");
  return all;
}

void lock_file_of(const char* first, const char* second) {
  const int one = open_shared(first);
  const int two = open_shared(second);
  require(flock(one, LOCK_EX) == 0, "flock");
  announce(std::string(first) + "_locked");
  await(std::string(second) + "_locked");
  flock(two, LOCK_EX);  // culprit: flock_cycle
  require(false, "the lock was free");
}

}  // namespace

ZOO_PROGRAM(flock_held) {
  const int file = open_shared("data");
  if (me() == 0) {
    require(flock(file, LOCK_EX) == 0, "flock");
    announce("locked");
    sleep(kPatienceS);  // culprit: flock_held
  }
  await("locked");
  flock(file, LOCK_EX);
}

ZOO_PROGRAM(fcntl_lock_held) {
  const int file = open_shared("data");
  if (me() == 0) {
    require(lock_record(file, F_SETLKW) == 0, "fcntl");
    announce("locked");
    sleep(kPatienceS);  // culprit: fcntl_lock_held
  }
  await("locked");
  lock_record(file, F_SETLKW);
}

// /proc/locks does not name the holder of such a lock; only the holder's /proc/PID/fdinfo shows it.
ZOO_PROGRAM(open_file_lock_held) {
  const int file = open_shared("data");
  if (me() == 0) {
    require(lock_record(file, F_OFD_SETLKW) == 0, "fcntl");
    announce("locked");
    sleep(kPatienceS);  // culprit: open_file_lock_held
  }
  await("locked");
  lock_record(file, F_OFD_SETLKW);
}

ZOO_PROGRAM(flock_cycle) { me() == 0 ? lock_file_of("a", "b") : lock_file_of("b", "a"); }

// Rank 0 holds the lock of a file and waits for a mutex in shared memory, rank 1 the other way round.
ZOO_PROGRAM(flock_and_mutex_cycle) {
  SharedMutex& all = shared_mutex();
  const int file = open_shared("data");
  if (me() == 0) {
    require(flock(file, LOCK_EX) == 0, "flock");
    announce("file_locked");
    await("mutex_locked");
    pthread_mutex_lock(&all.mutex);  // culprit: mixed_cycle
    require(false, "the mutex was free");
  }
  pthread_mutex_lock(&all.mutex);
  announce("mutex_locked");
  await("file_locked");
  flock(file, LOCK_EX);  // culprit: mixed_cycle
  require(false, "the lock was free");
}

ZOO_PROGRAM(shared_mutex_held) {
  SharedMutex& all = shared_mutex();
  if (me() == 0) {
    pthread_mutex_lock(&all.mutex);
    announce("locked");
    sleep(kPatienceS);  // culprit: shared_mutex_held
  }
  await("locked");
  pthread_mutex_lock(&all.mutex);
  require(me() != 0, "rank 0 was to hold it");
}

// Rank 0 ends well, and takes the mutex with it.
ZOO_PROGRAM(shared_mutex_of_the_dead) {
  SharedMutex& all = shared_mutex();
  if (me() == 0) {
    pthread_mutex_lock(&all.mutex);
    return announce("locked");
  }
  await("locked");
  nap(0.1);
  pthread_mutex_lock(&all.mutex);  // culprit: mutex_of_the_dead
  require(false, "the mutex was free");
}

ZOO_PROGRAM(shared_rwlock_written) {
  SharedMutex& all = shared_mutex();
  if (me() == 0) {
    pthread_rwlock_wrlock(&all.rwlock);
    announce("locked");
    sleep(kPatienceS);  // culprit: rwlock_written
  }
  await("locked");
  pthread_rwlock_rdlock(&all.rwlock);
  require(me() != 0, "rank 0 was to hold it");
}

ZOO_PROGRAM(shared_semaphore_not_posted) {
  SharedMutex& all = shared_mutex();
  if (me() == 0) return;
  sem_wait(&all.semaphore);  // culprit: shared_semaphore
  require(false, "it was posted");
}

// Rank 0 signals before rank 1 waits, and has ended by then.
ZOO_PROGRAM(shared_condition_signalled_early) {
  SharedMutex& all = shared_mutex();
  if (me() == 0) {
    pthread_cond_broadcast(&all.condition);
    return announce("signalled");
  }
  await("signalled");
  pthread_mutex_lock(&all.mutex);
  pthread_cond_wait(&all.condition, &all.mutex);  // culprit: shared_condition
  require(false, "it was signalled");
}

// The child of rank 1 has only the thread that forked: the one that holds the mutex is not there.
ZOO_PROGRAM(fork_with_a_held_lock) {
  if (me() == 0) return;
  static std::mutex mutex;
  static std::latch locked(2);
  static std::latch forked(2);
  std::thread holder([] {
    const std::lock_guard lock(mutex);
    locked.arrive_and_wait();
    forked.arrive_and_wait();
  });
  locked.arrive_and_wait();
  const pid_t child = fork_child();
  if (child == 0) {
    mutex.lock();  // culprit: forked
    _exit(0);
  }
  forked.arrive_and_wait();
  holder.join();
  waitpid(child, nullptr, 0);
}

// Two threads in one process; no rank waits for it.
ZOO_PROGRAM(mutex_cycle) {
  static std::mutex one;
  static std::mutex two;
  one.lock();
  std::thread other([] {
    two.lock();
    announce("two_locked");
    one.lock();  // culprit: mutex_cycle
  });
  await("two_locked");
  two.lock();  // culprit: mutex_cycle
  other.join();
}

// Programs that only look like hangs. Each takes one to two seconds and ends well.
#include <fcntl.h>
#include <semaphore.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <fstream>
#include <vector>

#include "program.hpp"

using namespace zoo;

namespace {

constexpr double kLong = 1.5;

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

int lock_file(const char* name) {
  const int file = open(shared(name).c_str(), O_CREAT | O_RDWR, 0600);
  require(file >= 0, "open");
  return file;
}

struct Line {
  int ends[2] = {-1, -1};
  Line() { require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair"); }
};

// Starts a process that is no descendant of any rank, and that acts late.
template <class Act>
void start_stranger(Act act) {
  const pid_t child = fork_child();
  if (child == 0) {
    if (fork_child() == 0) {
      setsid();
      nap(kLong);
      act();
    }
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

void wake(int) {}

void set_alarm(unsigned seconds) {
  struct sigaction action {};
  action.sa_handler = wake;
  sigaction(SIGALRM, &action, nullptr);
  alarm(seconds);
}

}  // namespace

ZOO_PROGRAM(alike_contended_flock) {
  const int file = lock_file("data");
  for (const double end = now() + kLong; now() < end;) {
    flock(file, LOCK_EX);
    nap(0.002);
    flock(file, LOCK_UN);
  }
}

// A cycle of two file locks that an alarm ends.
ZOO_PROGRAM(alike_flock_cycle_with_an_alarm) {
  const int own = lock_file(me() == 0 ? "a" : "b");
  const int other = lock_file(me() == 0 ? "b" : "a");
  flock(own, LOCK_EX);
  announce(me() == 0 ? "a_locked" : "b_locked");
  await(me() == 0 ? "b_locked" : "a_locked");
  set_alarm(2);
  flock(other, LOCK_EX);
  flock(own, LOCK_UN);
}

ZOO_PROGRAM(alike_ping_pong_with_a_child) {
  const Line line;
  const pid_t child = fork_child();
  char byte = 'x';
  if (child == 0) {
    while (read(line.ends[1], &byte, 1) == 1 && byte != '!') (void)!write(line.ends[1], &byte, 1);
    _exit(0);
  }
  for (const double end = now() + kLong; now() < end;) {
    require(write(line.ends[0], &byte, 1) == 1 && read(line.ends[0], &byte, 1) == 1, "ping pong");
  }
  (void)!write(line.ends[0], "!", 1);
  waitpid(child, nullptr, 0);
}

// The writer waits most of the time, since the reader is slow.
ZOO_PROGRAM(alike_slow_reader) {
  const Line line;
  const pid_t child = fork_child();
  std::vector<char> some(64 << 10);
  if (child == 0) {
    close(line.ends[0]);
    while (read(line.ends[1], some.data(), some.size()) > 0) nap(0.02);
    _exit(0);
  }
  for (const double end = now() + kLong; now() < end;) (void)!write(line.ends[0], some.data(), some.size());
  close(line.ends[0]);
  close(line.ends[1]);
  waitpid(child, nullptr, 0);
}

ZOO_PROGRAM(alike_late_writer) {
  if (me() == 0) require(mkfifo(shared("fifo").c_str(), 0600) == 0, "mkfifo");
  if (me() == 0) announce("made");
  await("made");
  if (me() == 1) nap(kLong);
  require(open(shared("fifo").c_str(), me() == 0 ? O_RDONLY : O_WRONLY) >= 0, "open");
}

ZOO_PROGRAM(alike_slow_start) {
  if (me() == 1) nap(kLong);
  announce(me() == 0 ? "first" : "second");
  await(me() == 0 ? "second" : "first");
}

ZOO_PROGRAM(alike_stopped_for_a_while) {
  const pid_t child = fork_child();
  if (child == 0) {
    raise(SIGSTOP);
    _exit(0);
  }
  waitpid(child, nullptr, WUNTRACED);
  nap(kLong);
  kill(child, SIGCONT);
  waitpid(child, nullptr, 0);
}

ZOO_PROGRAM(alike_answer_of_a_stranger) {
  const Line line;
  start_stranger([&line] { (void)!write(line.ends[1], "x", 1); });
  char byte = 0;
  require(read(line.ends[0], &byte, 1) == 1, "no answer");
}

ZOO_PROGRAM(alike_post_of_a_stranger) {
  auto& semaphore = *static_cast<sem_t*>(map_shared("semaphore" + std::to_string(me()), sizeof(sem_t)));
  sem_init(&semaphore, 1, 0);
  start_stranger([&semaphore] { sem_post(&semaphore); });
  require(sem_wait(&semaphore) == 0, "sem_wait");
}

// Parent and child wait for each other until an alarm ends the child.
ZOO_PROGRAM(alike_child_with_a_watchdog) {
  int ends[2];
  require(pipe(ends) == 0, "pipe");
  const pid_t child = fork_child();
  if (child == 0) {
    close(ends[1]);
    alarm(2);
    char byte = 0;
    (void)!read(ends[0], &byte, 1);
    _exit(0);
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
}

// Each rank has a pair of processes that read from each other, with a time limit that only their sockets know.
ZOO_PROGRAM(alike_sockets_with_a_time_limit) {
  const Line line;
  const bool is_child = fork_child() == 0;
  const int own = line.ends[is_child ? 0 : 1];
  close(line.ends[is_child ? 1 : 0]);
  const timeval limit{2, 0};
  setsockopt(own, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char byte = 0;
  require(read(own, &byte, 1) <= 0, "a byte has come");  // the other one may have ended
  if (is_child) _exit(0);
  wait(nullptr);
}

sem_t child_has_ended;

// The only thread waits for what the handler of its child's end posts.
ZOO_PROGRAM(alike_handler_of_a_childs_end) {
  sem_init(&child_has_ended, 0, 0);
  std::signal(SIGCHLD, [](int) { sem_post(&child_has_ended); });
  if (fork_child() == 0) {
    nap(kLong);
    _exit(0);
  }
  while (sem_wait(&child_has_ended) != 0) {
  }
  wait(nullptr);
}

ZOO_PROGRAM(alike_busy_with_small_calls) {
  for (const double end = now() + kLong; now() < end;) getppid();
}

ZOO_PROGRAM(alike_reads_a_long_file) {
  std::ofstream(shared("long" + std::to_string(me()))) << std::string(4 << 20, 'x');
  const int file = open(shared("long" + std::to_string(me())).c_str(), O_RDONLY);
  std::vector<char> some(4096);
  for (const double end = now() + kLong; now() < end;) {
    if (read(file, some.data(), some.size()) <= 0) lseek(file, 0, SEEK_SET);
  }
}

// Ranks that hand a token round in shared memory, with pauses.
ZOO_PROGRAM(alike_token_in_shared_memory) {
  auto& turn = *static_cast<std::atomic<int>*>(map_shared("token", sizeof(std::atomic<int>)));
  for (int i = 0; i < 700; ++i) {
    while (turn % everyone() != me()) nap(0.0005);
    nap(0.0005);
    ++turn;
  }
}

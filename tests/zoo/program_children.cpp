// Ranks that wait for children that hang.
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "program.hpp"

using namespace zoo;

namespace {

void reap(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
}

char read_one(int file) {
  char byte = 0;
  require(read(file, &byte, 1) == 1, "nothing came");
  return byte;
}

// The worker of a rank: the first one waits for a byte of the second, which sleeps.
void work(int rank) {
  const int fifo = open(shared("fifo").c_str(), rank == 0 ? O_RDONLY : O_RDWR);
  if (rank == 0) read_one(fifo);
  sleep(kPatienceS);  // culprit: spawned_workers
}

}  // namespace

ZOO_PROGRAM(child_sleeps) {
  if (me() == 0) return;
  const pid_t child = fork_child();
  if (child == 0) {
    sleep(kPatienceS);  // culprit: child_sleeps
    _exit(0);
  }
  reap(child);
}

// The parent waits for a child that reads what only the parent could write.
ZOO_PROGRAM(child_reads_from_its_parent) {
  if (me() == 0) return;
  int ends[2];
  require(pipe(ends) == 0, "pipe");
  const pid_t child = fork_child();
  if (child == 0) {
    close(ends[1]);
    char byte = 0;
    (void)!read(ends[0], &byte, 1);  // culprit: child_reads
    _exit(0);
  }
  close(ends[0]);
  reap(child);
  close(ends[1]);
}

// The child writes more than the pipe takes; the parent reads only after the child's end.
ZOO_PROGRAM(child_writes_to_its_parent) {
  if (me() == 0) return;
  int ends[2];
  require(pipe(ends) == 0, "pipe");
  const pid_t child = fork_child();
  if (child == 0) {
    close(ends[0]);
    static char much[1 << 20];
    (void)!write(ends[1], much, sizeof much);  // culprit: child_writes
    _exit(0);
  }
  close(ends[1]);
  reap(child);
  read_one(ends[0]);
}

ZOO_PROGRAM(grandchild_sleeps) {
  if (me() == 0) return;
  const pid_t child = fork_child();
  if (child == 0) {
    const pid_t grandchild = fork_child();
    if (grandchild == 0) {
      sleep(kPatienceS);  // culprit: grandchild_sleeps
      _exit(0);
    }
    reap(grandchild);
    _exit(0);
  }
  reap(child);
}

ZOO_PROGRAM(child_stopped) {
  if (me() == 0) return;
  const pid_t child = fork_child();
  if (child == 0) {
    raise(SIGSTOP);  // culprit: child_stopped
    _exit(0);
  }
  reap(child);
}

// Another program, started as libraries start their helpers.
ZOO_PROGRAM(spawned_program_sleeps) {
  if (me() == 0) return;
  pid_t child = 0;
  char name[] = "sleep";
  char time[] = "60";
  char* const words[] = {name, time, nullptr};
  require(posix_spawnp(&child, "sleep", nullptr, nullptr, words, environ) == 0, "posix_spawn");
  reap(child);
}

// Each rank waits for its worker; the workers wait for each other's data, and that of rank 1 sleeps.
ZOO_PROGRAM(spawned_workers) {
  if (me() == 0) {
    require(mkfifo(shared("fifo").c_str(), 0600) == 0, "mkfifo");
    announce("fifo_made");
  }
  await("fifo_made");
  const pid_t worker = fork_child();
  if (worker == 0) {
    work(me());
    _exit(0);
  }
  reap(worker);
}

// The kernel keeps the parent of a vfork asleep, beyond the reach of signals.
ZOO_PROGRAM(vfork_whose_child_sleeps) {
  if (me() == 0) return;
  const pid_t child = vfork();  // culprit: vfork
  if (child == 0) {
    sleep(kPatienceS);
    _exit(0);
  }
  reap(child);
}

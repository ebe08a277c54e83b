// Programs that are stopped, traced, late, or busy with nothing.
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "program.hpp"

using namespace zoo;

namespace {

std::atomic<int>& shared_flag() { return *static_cast<std::atomic<int>*>(map_shared("flag", sizeof(int))); }

}  // namespace

ZOO_PROGRAM(stopped) {
  if (me() == 0) return;
  raise(SIGSTOP);  // culprit: stopped
}

ZOO_PROGRAM(traced) {
  if (me() == 0) return;
  int ready[2];
  require(pipe(ready) == 0, "pipe");
  const pid_t parent = getpid();
  if (fork_child() == 0) {
    require(ptrace(PTRACE_SEIZE, parent, nullptr, nullptr) == 0, "ptrace");
    require(ptrace(PTRACE_INTERRUPT, parent, nullptr, nullptr) == 0, "ptrace");
    (void)!write(ready[1], "y", 1);
    sleep(kPatienceS);
    _exit(0);
  }
  char byte = 0;
  (void)!read(ready[0], &byte, 1);
  sleep(kPatienceS);
}

// Rank 0 was to set the flag, and has ended.
ZOO_PROGRAM(spins_on_a_flag) {
  const std::atomic<int>& flag = shared_flag();
  if (me() == 0) return;
  while (flag == 0) {  // culprit: spins_on_a_flag
  }
}

ZOO_PROGRAM(yields_until_a_flag) {
  const std::atomic<int>& flag = shared_flag();
  if (me() == 0) return;
  while (flag == 0) sched_yield();  // culprit: yields_until_a_flag
}

// Polls a descriptor that is at its end, without a pause: what a broken event loop does.
ZOO_PROGRAM(reads_at_the_end_for_ever) {
  if (me() == 0) return;
  int ends[2];
  require(pipe(ends) == 0, "pipe");
  close(ends[1]);
  char byte = 0;
  while (read(ends[0], &byte, 1) == 0) {  // culprit: reads_at_the_end
  }
}

ZOO_PROGRAM(pauses) {
  if (me() == 0) return;
  pause();  // culprit: pauses
}

ZOO_PROGRAM(waits_for_a_signal) {
  if (me() == 0) return;
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGUSR1);
  sigprocmask(SIG_BLOCK, &wanted, nullptr);
  int got = 0;
  sigwait(&wanted, &got);  // culprit: waits_for_a_signal
}

ZOO_PROGRAM(polls_for_a_file) {
  if (me() == 0) return;
  while (access(shared("never made").c_str(), F_OK) != 0) usleep(5000);  // culprit: polls_for_a_file
}

#include <distrun/runner/proc/tracees.hpp>

#include <poll.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

#include <distrun/runner/proc/pidfd.hpp>
#include <distrun/runner/proc/process_tree.hpp>

namespace distrun::proc {
namespace {

constexpr int kStopRounds = 50;   // of 100 us, for a thread to stop
constexpr int kReapRounds = 100;  // of 10 ms
constexpr int kClone = static_cast<int>(__WCLONE);

// Among children created by exec or fork, only traced ones are "clone" children.
bool is_tracee(pid_t tid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(tid), &info, WSTOPPED | WNOWAIT | kClone | WNOHANG) == 0;
}

// The kernel sends this signal only to a tracee that calls exec.
bool is_from_exec(pid_t tid, int signal) {
  siginfo_t info{};
  return signal == SIGTRAP && ::ptrace(PTRACE_GETSIGINFO, tid, nullptr, &info) == 0 && info.si_code == SI_USER &&
         info.si_pid == tid;
}

void detach(pid_t tid, int signal) { ::ptrace(PTRACE_DETACH, tid, nullptr, static_cast<std::intptr_t>(signal)); }

// Returns the signal at which the thread has stopped; 0: it has not stopped.
int stopped_at(pid_t tid) {
  siginfo_t info{};
  const int result = ::waitid(P_PID, static_cast<id_t>(tid), &info, WSTOPPED | __WALL | WNOHANG);
  return result == 0 && info.si_pid != 0 ? info.si_status : 0;
}

// The thread may be stopped at another signal, or not at all: then the SIGSTOP sent here must not take effect later.
void stop_and_let_go(pid_t pid, pid_t tid) {
  ::syscall(SYS_tgkill, pid, tid, SIGSTOP);
  int signal = 0;
  for (int round = 0; round < kStopRounds && signal == 0; ++round) {
    signal = stopped_at(tid);
    const timespec moment{0, 100'000};
    if (signal == 0) ::nanosleep(&moment, nullptr);
  }
  if (signal != 0) detach(tid, signal == SIGSTOP ? 0 : signal);
  if (signal != SIGSTOP) ::kill(pid, SIGCONT);
}

bool has_dead_tracee() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | kClone | WNOHANG) == 0 && info.si_pid != 0;
}

void reap_dead_threads() {
  for (const pid_t pid : own_children()) {
    for (const pid_t tid : threads_of(pid)) {
      siginfo_t info{};
      if (tid != pid) ::waitid(P_PID, static_cast<id_t>(tid), &info, WEXITED | __WALL | WNOHANG);
    }
  }
}

}  // namespace

void let_stopped_tracees_go() {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WSTOPPED | __WALL | WNOHANG) != 0 || info.si_pid == 0) break;
    if (info.si_code != CLD_TRAPPED) continue;  // a stopped child without a tracer
    detach(info.si_pid, is_from_exec(info.si_pid, info.si_status) ? 0 : info.si_status);
  }
  if (has_dead_tracee()) reap_dead_threads();
}

void let_tracees_go(pid_t pid) {
  for (const pid_t tid : threads_of(pid)) {
    if (is_tracee(tid)) stop_and_let_go(pid, tid);
  }
}

void reap_killed(pid_t pid, int pidfd) {
  for (int round = 0; round < kReapRounds; ++round) {
    pollfd ended{pidfd, POLLIN, 0};
    ::poll(&ended, 1, 10);
    if (try_reap(pid)) return;
    let_stopped_tracees_go();
  }
}

}  // namespace distrun::proc

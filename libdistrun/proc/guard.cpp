#include <distrun/proc/guard.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <distrun/base/error.hpp>
#include <distrun/proc/pidfd.hpp>
#include <distrun/proc/process_tree.hpp>

namespace distrun::proc {
namespace {

constexpr int kInfraErrorExitCode = 3;
constexpr int kInterruptedExitCode = 130;
constexpr int kRounds = 900;  // a millisecond each: the machine is clean within a second

sigset_t guarded_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    sigaddset(&set, signal);
  }
  return set;
}

// Waits for the coordinator's end and passes signals on meanwhile. What the terminal sends goes to the
// whole foreground group, so the coordinator has it already.
ExitStatus watch(pid_t coordinator, const sigset_t& signals) {
  for (;;) {
    if (const auto status = try_reap(coordinator)) return *status;
    siginfo_t info{};
    const int signal = ::sigwaitinfo(&signals, &info);
    if (signal > 0 && signal != SIGCHLD && info.si_code != SI_KERNEL) ::kill(coordinator, signal);
  }
}

// How the terminal was before the coordinator took its keys one by one; one that is killed cannot give it back.
class KeptTerminal {
 public:
  KeptTerminal() : is_terminal_(::tcgetattr(STDIN_FILENO, &mode_) == 0) {}
  void restore() const {
    if (is_terminal_ && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp()) ::tcsetattr(STDIN_FILENO, TCSANOW, &mode_);
  }

 private:
  termios mode_{};
  bool is_terminal_;
};

void clean_up(const RunPlaces& places, const ExitStatus& status) {
  std::vector<pid_t> left;
  const int ended = end_children([](pid_t) { return true; }, kRounds, left);
  const std::size_t files = remove_run_files(places).size();
  if (is_interruption(status.signal()) && ended == 0 && files == 0 && left.empty()) return;
  std::fprintf(stderr, "distrun: the coordinator %s; ended %d of its processes, removed %zu of its files\n",
               status.describe().c_str(), ended, files);
  for (const pid_t pid : left) {
    std::fprintf(stderr, "distrun: process %s could not be ended\n", describe_process(pid).c_str());
  }
}

int be_coordinator(pid_t guard, const sigset_t& mask, const std::function<int(Coordinator)>& coordinator) {
  base::Fd watched = open_pidfd(guard);
  if (::getppid() != guard) return kInfraErrorExitCode;  // it died before we could watch it
  become_subreaper();
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  return coordinator(Coordinator{std::move(watched)});
}

}  // namespace

bool is_interruption(int signal) noexcept { return signal == SIGINT || signal == SIGTERM || signal == SIGHUP; }

int run_guarded(const RunPlaces& places, const std::function<int(Coordinator)>& coordinator) {
  become_subreaper();
  const sigset_t signals = guarded_signals();
  sigset_t mask;
  ::sigprocmask(SIG_BLOCK, &signals, &mask);
  std::fflush(nullptr);
  const KeptTerminal terminal;
  const pid_t guard = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) base::throw_errno("cannot start the coordinator", errno);
  if (child == 0) {
    const int code = be_coordinator(guard, mask, coordinator);
    std::fflush(nullptr);
    std::_Exit(code);
  }
  const ExitStatus status = watch(child, signals);
  if (status.exited() && own_children().empty()) return status.code();
  if (!status.exited()) terminal.restore();
  clean_up(places, status);
  if (status.exited()) return status.code();
  // It dies of these only before it has begun to listen to them: the user was quick.
  return is_interruption(status.signal()) ? kInterruptedExitCode : kInfraErrorExitCode;
}

}  // namespace distrun::proc

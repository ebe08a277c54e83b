#include <distrun/runner/proc/guard.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/inherited.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/proc/harmless_signals.hpp>
#include <distrun/runner/proc/pidfd.hpp>
#include <distrun/runner/proc/process_tree.hpp>

namespace distrun::proc {
namespace {

constexpr int kInfraErrorExitCode = 3;
constexpr int kInterruptedExitCode = 130;
constexpr int kRounds = 900;  // of a millisecond each: the machine is clean within a second

constexpr auto kSameWish = std::chrono::milliseconds(200);  // repeats within this come from terminal and shell
constexpr auto kDeath = std::chrono::seconds(1);            // from SIGKILL to an observable exit
constexpr auto kLook = std::chrono::milliseconds(100);      // between two checks of a stopped coordinator
constexpr auto kAway = std::chrono::seconds(1);             // a longer gap: this process was stopped, too

// A signal that this process ignores is not forwarded to its coordinator either.
sigset_t guarded_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    if (!base::is_ignored(signal)) sigaddset(&set, signal);
  }
  return set;
}

// Waits for the coordinator's end and forwards signals meanwhile.
class Watch {
 public:
  Watch(pid_t coordinator, const sigset_t& signals, const GuardBounds& bounds)
      : coordinator_(coordinator), signals_(signals), bounds_(bounds) {}

  // A coordinator that has not ended kDeath after it was killed counts as killed: it is traced or in state D.
  ExitStatus wait();
  // Says why the guard killed the coordinator; empty: it did not.
  const std::string& why_killed() const noexcept { return why_killed_; }

 private:
  // Returns 0 if a bound has passed, or it is time to check a stopped coordinator again.
  int next_signal(siginfo_t& info) const;
  void look_at_stop();
  void pass_on(const siginfo_t& info);
  void bound_end(int signal);
  void kill_it();

  pid_t coordinator_;
  const sigset_t& signals_;
  const GuardBounds& bounds_;
  const base::Clock& clock_ = base::system_clock();
  int asked_by_ = 0;  // the first signal that asked the run to end
  base::TimePoint asked_at_{};
  base::TimePoint deadline_ = base::TimePoint::max();  // max(): no signal has asked yet
  std::string why_killed_;
  base::TimePoint stopped_at_ = base::TimePoint::max();  // when it was first seen stopped; max(): it is running
  base::TimePoint looked_at_{};                          // the last check that found it stopped
};

// Returns the signal that keeps a child stopped; 0: it is not stopped.
int stop_signal_of(pid_t child) {
  siginfo_t info{};
  const int done = ::waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED | WNOHANG | WNOWAIT);
  return done == 0 && info.si_pid == child ? info.si_status : 0;
}

void tell_continued(const char* who, pid_t pid, const std::string& by, const char* other) {
  std::fprintf(stderr,
               "distrun: the %s (process %d) was stopped from outside%s while the %s ran, and was continued; to stop "
               "the whole run, press Ctrl-Z or signal the process group %d\n",
               who, static_cast<int>(pid), by.c_str(), other, static_cast<int>(::getpgrp()));
}

ExitStatus Watch::wait() {
  for (;;) {
    if (const auto status = try_reap(coordinator_)) return *status;
    look_at_stop();
    siginfo_t info{};
    const int signal = next_signal(info);
    if (signal > 0 && signal != SIGCHLD) pass_on(info);
    if (clock_.now() < deadline_) continue;
    if (!why_killed_.empty()) return ExitStatus::of_signal(SIGKILL);
    kill_it();
  }
}

int Watch::next_signal(siginfo_t& info) const {
  const base::TimePoint look = stopped_at_ == base::TimePoint::max() ? stopped_at_ : looked_at_ + kLook;
  const base::TimePoint until = std::min(deadline_, look);
  if (until == base::TimePoint::max()) return ::sigwaitinfo(&signals_, &info);
  const auto left = std::max<base::Nanoseconds>(until - clock_.now(), base::Nanoseconds::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const timespec limit{seconds.count(), (left - seconds).count()};
  return ::sigtimedwait(&signals_, &info, &limit);
}

// Does not count the time in which this process was stopped as well: a shell continues both at once, in any order.
void Watch::look_at_stop() {
  const int signal = stop_signal_of(coordinator_);
  const base::TimePoint now = clock_.now();
  if (signal == 0) {
    stopped_at_ = base::TimePoint::max();
    return;
  }
  if (stopped_at_ == base::TimePoint::max() || now - looked_at_ > kAway) stopped_at_ = now;
  looked_at_ = now;
  if (now - stopped_at_ < bounds_.stop) return;
  stopped_at_ = base::TimePoint::max();
  tell_continued("coordinator", coordinator_, " by " + base::signal_name(signal), "guard");
  ::kill(coordinator_, SIGCONT);
}

// A signal from the terminal goes to the whole foreground group, so the coordinator has received it already. Only
// SIGHUP of a closed terminal goes to the session leader alone.
void Watch::pass_on(const siginfo_t& info) {
  const int signal = info.si_signo;
  if (info.si_code != SI_KERNEL || signal == SIGHUP) ::kill(coordinator_, signal);
  if (!is_interruption(signal)) return;
  ::kill(coordinator_, SIGCONT);  // a stopped process does not handle signals
  bound_end(signal);
}

void Watch::bound_end(int signal) {
  if (!why_killed_.empty()) return;
  const base::TimePoint now = clock_.now();
  if (asked_by_ == 0) {
    asked_by_ = signal;
    asked_at_ = now;
    deadline_ = base::deadline_after(bounds_.end, now);
  } else if (now - asked_at_ > kSameWish) {
    deadline_ = std::min<base::TimePoint>(deadline_, base::deadline_after(bounds_.hurry, now));
  }
}

void Watch::kill_it() {
  const std::string state = describe_state(coordinator_);
  const auto waited = std::chrono::duration_cast<base::Milliseconds>(clock_.now() - asked_at_);
  why_killed_ = "did not end within " + base::human(waited) + " of " + base::signal_name(asked_by_) +
                (state.empty() ? "" : " (" + state + ")") + " and was killed";
  ::kill(coordinator_, SIGKILL);
  deadline_ = clock_.now() + kDeath;
}

// Saves the terminal's mode before the coordinator reads single keys; a killed coordinator cannot restore it.
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

// `is_ours` returns whether a child belongs to the run.
void clean_up(const RunPlaces& places, const ExitStatus& status, const std::string& why_killed,
              const std::string& at_work, const std::function<bool(pid_t)>& is_ours) {
  Endings endings = end_children(is_ours, kRounds);
  const RemovedFiles files = remove_run_files(places);
  std::erase_if(endings.left, is_zombie);  // a tracer has not released it yet
  const bool quiet = why_killed.empty() && is_interruption(status.signal());
  const bool clean = endings.count == 0 && files.removed.empty() && endings.left.empty() && files.stuck.empty();
  if (quiet && clean) return;
  const std::string meanwhile = at_work.empty() ? "" : " while " + base::one_line(at_work, 1000) + " ran";
  std::fprintf(stderr, "distrun: the coordinator %s%s; ended %d of its processes, removed %zu of its files\n",
               why_killed.empty() ? status.describe().c_str() : why_killed.c_str(), meanwhile.c_str(), endings.count,
               files.removed.size());
  for (const pid_t pid : endings.left) {
    std::fprintf(stderr, "distrun: process %s could not be ended\n", describe_process(pid).c_str());
  }
  tell_stuck(files);
}

int be_coordinator(pid_t guard, const sigset_t& mask, WorkNote& note,
                   const std::function<int(Coordinator)>& coordinator) {
  base::Fd watched = open_pidfd(guard);
  if (::getppid() != guard) return kInfraErrorExitCode;  // the guard died before it could be watched
  become_subreaper();
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  return coordinator(Coordinator{std::move(watched), &note});
}

}  // namespace

bool is_interruption(int signal) noexcept { return signal == SIGINT || signal == SIGTERM || signal == SIGHUP; }

void continue_guard() {
  const pid_t guard = ::getppid();
  if (!is_stopped(guard)) return;
  tell_continued("guard", guard, "", "coordinator");
  ::kill(guard, SIGCONT);
}

int run_guarded(const RunPlaces& places, const std::function<int(Coordinator)>& coordinator,
                const GuardBounds& bounds) {
  become_subreaper();
  const std::vector<pid_t> before = own_children();  // inherited from the shell that became this program by exec
  const sigset_t signals = guarded_signals();        // before the user signals are ignored: the guard forwards them
  ignore_harmless_signals();                         // a blocked signal stays pending although it is ignored
  sigset_t mask;
  ::sigprocmask(SIG_BLOCK, &signals, &mask);
  std::fflush(nullptr);
  const KeptTerminal terminal;
  WorkNote note;
  const pid_t guard = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    throw Error(ErrorKind::Failed, "OSError", "cannot start the coordinator: " + base::fork_errno_text(errno));
  }
  if (child == 0) {
    const int code = be_coordinator(guard, mask, note, coordinator);
    std::fflush(nullptr);
    if (::getppid() == guard) continue_guard();
    std::_Exit(code);
  }
  Watch watch(child, signals, bounds);
  const ExitStatus status = watch.wait();
  const auto is_ours = [&](pid_t pid) { return std::find(before.begin(), before.end(), pid) == before.end(); };
  const std::vector<pid_t> after = own_children();
  if (status.exited() && std::none_of(after.begin(), after.end(), is_ours)) return status.code();
  if (!status.exited()) terminal.restore();
  clean_up(places, status, watch.why_killed(), note.read(), is_ours);
  if (status.exited()) return status.code();
  // These signals kill the coordinator only before it handles them: the user was quick.
  const bool interrupted = is_interruption(status.signal()) || !watch.why_killed().empty();
  return interrupted ? kInterruptedExitCode : kInfraErrorExitCode;
}

}  // namespace distrun::proc

#include "stopper.hpp"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include <distrun/runner/evidence/proc/task_state.hpp>

#include "cut_short.hpp"
#include "registers.hpp"

namespace distrun::probe {
namespace {

using State = Tracee::State;

// Bounds the pursuit of a process that keeps creating threads; each round stops threads that could create more.
constexpr int kRoundsMax = 16;
// Most threads stop at once; others must first get a processor, which may take longer.
constexpr base::Milliseconds kPatience{20};

sigset_t child_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  return set;
}

timespec to_timespec(base::Nanoseconds duration) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return {static_cast<time_t>(duration.count() / kSecond), static_cast<long>(duration.count() % kSecond)};
}

// The kernel also answers EPERM for a thread that is exiting.
bool has_ended(const evidence::Tasks& tasks, pid_t tid) {
  const std::uint8_t state = evidence::read_name_and_state(tasks, tid).state;
  return state == 'Z' || state == 'X' || state == '?';
}

// Restarts the call that the stop has ended, or gives it the result of its time limit.
void repair_call(const Tracee& tracee) {
  const auto call = interrupted_call(tracee.tid);
  if (!call || !can_begin_again(call->number)) return;
  // The stop itself counts as a sleep.
  const bool has_slept = tracee.sleeps < 0 || evidence::sleeps_of(tracee.pid, tracee.tid) > tracee.sleeps + 1;
  set_result(tracee.tid, ended_at_limit(*call, has_slept) ? 0 : kRestartIfNoHandler);
}

}  // namespace

Stopper::Stopper() {
  // While blocked, a SIGCHLD that arrives before the next wait is kept.
  const sigset_t set = child_signal();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

void Stopper::stop_processes(const std::vector<pid_t>& pids, base::TimePoint deadline) {
  for (int round = 0; round < kRoundsMax; ++round) {
    int found = 0;
    for (const pid_t pid : pids) found += ask_new_threads(pid);
    if (!wait_while_worth_it(deadline) || found == 0) return;
  }
}

void Stopper::stop_again(const std::vector<pid_t>& tids, base::TimePoint deadline) {
  for (const pid_t tid : tids) {
    const auto found = tracees_.find(tid);
    if (found == tracees_.end()) continue;
    const State state = found->second.state;
    if (state == State::Released || state == State::Left) ask(evidence::Tasks(found->second.pid), tid);
  }
  wait_until(deadline);
}

void Stopper::leave_processes(const std::vector<pid_t>& pids) {
  for (const pid_t pid : pids) {
    const evidence::Tasks tasks(pid);
    for (const pid_t tid : tasks.ids()) {
      const auto call = sleeping_call(tasks, tid);
      tracees_[tid] = {pid, tid, call ? State::Left : State::Awake, 0, 0, call.value_or(evidence::SyscallText{})};
    }
  }
}

int Stopper::ask_new_threads(pid_t pid) {
  int found = 0;
  const evidence::Tasks tasks(pid);
  for (const pid_t tid : tasks.ids()) {
    if (!tracees_.contains(tid)) {
      ask(tasks, tid);
      ++found;
    }
    // A refusal for one thread of a process applies to all of its threads, unless another process traces that thread.
    if (tracees_.at(tid).state == State::Refused && evidence::tracer_of(tid) == 0) break;
  }
  return found;
}

void Stopper::ask(const evidence::Tasks& tasks, pid_t tid) {
  Tracee tracee{tasks.pid(), tid, State::Asked, 0, 0};
  const auto call = sleeping_call(tasks, tid);
  if (!call) tracee.sleeps = evidence::sleeps_of(tasks.pid(), tid);
  // Unlike attaching, seizing sends no SIGSTOP that could be left behind.
  if (call && must_be_left(tasks.pid(), tid, *call)) {
    tracee.state = State::Left;
    tracee.call = *call;
  } else if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) {
    tracee.error = errno;
    tracee.state = tracee.error == ESRCH || has_ended(tasks, tid) ? State::Gone : State::Refused;
  } else if (::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) != 0) {
    tracee.state = State::Gone;
  } else {
    ++waiting_;
  }
  tracees_[tid] = tracee;
}

// Returns true if there is nothing more to wait for.
bool Stopper::wait_while_worth_it(base::TimePoint deadline) {
  for (;;) {
    const base::TimePoint now = base::system_clock().now();
    wait_until(std::min(deadline, now + kPatience));
    if (waiting_ == 0) return true;
    if (now >= deadline || all_left_sleep_deeply()) return false;
  }
}

bool Stopper::all_left_sleep_deeply() const {
  return std::all_of(tracees_.begin(), tracees_.end(), [](const auto& entry) {
    const Tracee& tracee = entry.second;
    return tracee.state != State::Asked || evidence::read_pulse(tracee.pid, tracee.tid).state == 'D';
  });
}

bool Stopper::awaits_cpu() const {
  return std::any_of(tracees_.begin(), tracees_.end(), [](const auto& entry) {
    const Tracee& tracee = entry.second;
    return tracee.state == State::Asked && evidence::read_pulse(tracee.pid, tracee.tid).state == 'R';
  });
}

void Stopper::wait_until(base::TimePoint deadline) {
  const sigset_t set = child_signal();
  take_reports();
  while (waiting_ > 0) {
    const base::Nanoseconds left = deadline - base::system_clock().now();
    if (left <= base::Nanoseconds::zero()) return;
    const timespec limit = to_timespec(left);
    ::sigtimedwait(&set, nullptr, &limit);
    take_reports();
  }
}

void Stopper::take_reports() {
  int status = 0;
  pid_t tid = 0;
  while ((tid = ::waitpid(-1, &status, __WALL | WNOHANG)) > 0) take_report(tid, status);
}

void Stopper::take_report(pid_t tid, int status) {
  const auto found = tracees_.find(tid);
  if (found == tracees_.end()) {
    ::ptrace(PTRACE_DETACH, tid, nullptr, nullptr);
    return;
  }
  Tracee& tracee = found->second;
  if (tracee.state == State::Asked) --waiting_;
  if (!WIFSTOPPED(status)) {
    tracee.state = State::Gone;
    return;
  }
  tracee.state = State::Stopped;
  repair_call(tracee);
  // An event in the upper half is our interrupt, or an earlier stop of the whole process. Without an event, a signal
  // was about to be delivered.
  const bool is_event = (status >> 16) != 0;
  tracee.signal = is_event ? 0 : WSTOPSIG(status);
}

void Stopper::release() {
  take_reports();
  for (auto& [tid, tracee] : tracees_) {
    if (tracee.state != State::Stopped) continue;
    const auto signal = static_cast<std::uintptr_t>(tracee.signal);
    const bool released = ::ptrace(PTRACE_DETACH, tid, nullptr, signal) == 0;
    tracee.state = released ? State::Released : State::Gone;  // SIGKILL ends a thread in any stop
    tracee.signal = 0;
  }
}

}  // namespace distrun::probe

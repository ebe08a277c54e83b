// The part of a session that takes more samples, to show which threads move.
#include <algorithm>
#include <thread>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runner/evidence/proc/task_state.hpp>

#include "session.hpp"

namespace distrun::probe {
namespace {

constexpr base::Milliseconds kStillMin{10};  // between the two views of a thread that stands still

base::TimePoint now() { return base::system_clock().now(); }

bool is_running(const evidence::Pulse& pulse) { return pulse.state == 'R'; }

bool is_waiting(const wire::ThreadStack& thread) { return thread.task.state == 'S' || !thread.wait.call.empty(); }

MotionSample sample_of(const evidence::Pulse& pulse, const MotionHistory& history) {
  MotionSample sample;
  sample.when = now();
  sample.cpu_ns = pulse.cpu_ns;
  sample.kept_ns = pulse.kept_ns;
  sample.faults = pulse.faults;
  sample.running = is_running(pulse);
  sample.stopped = history.stopped;
  return sample;
}

}  // namespace

void Session::take_samples() {
  const base::Milliseconds interval(std::clamp(order_.interval_ms, 1, 1'000));
  const std::int32_t more = std::min(order_.samples, 16) - 1;
  if (stand_still()) return judge_still();
  take_first_pulses();
  for (std::int32_t i = 0; i < more; ++i) take_sample(interval);
  loops_.take_missing(stop_limit_);
  judge_motions();
}

// ---- no thread runs

// Returns whether all threads sleep now, did so in the kernel's view, and used hardly any CPU in between.
bool Session::stand_still() const {
  if (stopper_.is_waiting()) return false;
  std::this_thread::sleep_until(begin_ + kStillMin);
  for (const Process& process : processes_) {
    const evidence::Tasks tasks(process.told.pid);
    for (const wire::ThreadStack& thread : process.told.threads) {
      if (thread.task.state == 'R') return false;
      const evidence::Pulse pulse = evidence::read_pulse(tasks, thread.task.tid);
      if (pulse.state == '?') continue;  // it has ended
      if (is_running(pulse) || pulse.cpu_ns > thread.task.cpu_ns + kStopCpu) return false;
    }
  }
  return true;
}

void Session::judge_still() {
  for (Process& process : processes_) {
    for (wire::ThreadStack& thread : process.told.threads) {
      if (thread.task.state != '?') thread.motion = wire::Motion::Waiting;
    }
    if (!process.told.threads.empty()) tell(process);
  }
}

// ---- samples

// Excludes the time in which the first stacks were taken, which varies.
void Session::take_first_pulses() {
  for (const Process& process : processes_) {
    for (const wire::ThreadStack& thread : process.told.threads) {
      const evidence::Pulse pulse = evidence::read_pulse(process.told.pid, thread.task.tid);
      if (pulse.state == '?') continue;  // it has ended
      MotionHistory& history = histories_[thread.task.tid];
      history.pid = process.told.pid;
      history.waited = is_waiting(thread);
      history.samples.push_back(sample_of(pulse, history));
      history.samples.back().functions = functions_of(table_, thread, false);
    }
  }
}

void Session::take_sample(base::Milliseconds interval) {
  captures_.clear();
  const base::TimePoint end = base::deadline_after(interval, now());
  loops_.take(end);
  wait_for_late_stops(end);
  loops_.stop_again(take_pulses(), base::deadline_after(std::min(stop_limit_, kStopTogether), now()));
  capture_stopped();
  stopper_.release();
  for (Process& process : processes_) add_to_sample(process);
}

// Waits for threads that got no CPU time to stop: they would stop later, and until the next sample.
void Session::wait_for_late_stops(base::TimePoint end) {
  stopper_.wait_until(end);
  capture_stopped();
  stopper_.release();
  std::this_thread::sleep_until(end);
}

// Returns the threads that have used CPU since the last sample.
std::vector<pid_t> Session::take_pulses() {
  std::vector<pid_t> moved;
  for (const Process& process : processes_) {
    for (const wire::ThreadStack& thread : process.told.threads) {
      const auto history = histories_.find(thread.task.tid);
      if (history == histories_.end()) continue;
      const evidence::Pulse pulse = evidence::read_pulse(process.told.pid, thread.task.tid);
      const MotionSample sample = sample_of(pulse, history->second);
      const MotionSample& last = history->second.samples.back();
      const std::uint64_t used = sample.cpu_ns - std::min(sample.cpu_ns, last.cpu_ns);
      if (has_used_cpu(used, sample.when - last.when, sample.running)) moved.push_back(thread.task.tid);
      history->second.samples.push_back(sample);
    }
  }
  return moved;
}

void Session::add_to_sample(Process& process) {
  try {
    if (process.code == nullptr) find_code(process);
    for (wire::ThreadStack& thread : process.told.threads) add_to_sample(process, thread);
  } catch (const Error& error) {
    process.told.why_none = error.what();
  }
}

// A thread without a stack gets this one, which is better than a note that the first stop came too late.
void Session::add_to_sample(Process& process, wire::ThreadStack& thread) {
  const auto capture = captures_.find(thread.task.tid);
  const auto history = histories_.find(thread.task.tid);
  if (capture == captures_.end() || history == histories_.end() || process.code == nullptr) return;
  wire::ThreadStack now;
  now.task.tid = thread.task.tid;
  fill_with_names(process, now, capture->second);
  history->second.samples.back().functions = functions_of(table_, now, false);
  if (!thread.frames.empty()) return;
  thread.frames = std::move(now.frames);
  thread.gap_after = now.gap_after;
  thread.incomplete = now.incomplete;
  thread.why_none.clear();
}

// ---- the judgement

void Session::judge_motions() {
  for (Process& process : processes_) {
    bool judged = false;
    for (wire::ThreadStack& thread : process.told.threads) {
      const auto found = histories_.find(thread.task.tid);
      if (found == histories_.end()) continue;
      MotionHistory& history = found->second;
      if (history.sleeps_before >= 0) history.sleeps_after = evidence::sleeps_of(process.told.pid, thread.task.tid);
      thread.motion = judge_motion(history);
      judged = true;
    }
    if (judged) tell(process);
  }
}

}  // namespace distrun::probe

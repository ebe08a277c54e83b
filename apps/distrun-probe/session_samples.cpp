// The part of a session that takes more samples, to show which threads move.
#include <sys/syscall.h>

#include <algorithm>
#include <thread>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/evidence/proc/task_state.hpp>

#include "memory.hpp"
#include "session.hpp"

namespace distrun::probe {
namespace {

constexpr base::Milliseconds kStillMin{10};  // between the two views of a thread that stands still
constexpr std::chrono::microseconds kLoopInterval{2'500};
constexpr base::Milliseconds kLoopStop{5};     // a thread that gets a CPU later has no such sample
constexpr base::Milliseconds kLoopExtra{200};  // to have enough samples where CPUs are scarce
constexpr std::size_t kLoopThreadsMax = 64;
constexpr std::size_t kLoopSamplesMax = 64;  // of one thread
// The CPU time that a thread spends on being stopped once, at most.
constexpr std::uint64_t kStopCpu = 200'000;  // ns

base::TimePoint now() { return base::system_clock().now(); }

bool is_running(const evidence::Pulse& pulse) { return pulse.state == 'R'; }

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

LoopPlace place_of_call(long call) {
  switch (call) {
    case SYS_sched_yield: return LoopPlace::Yield;
    case SYS_clock_gettime:
    case SYS_gettimeofday: return LoopPlace::Clock;
    default: return LoopPlace::Call;
  }
}

template <std::size_t Size>
bool has_at(pid_t tid, std::uint64_t address, const std::array<unsigned char, Size>& bytes) {
  std::array<unsigned char, Size> found{};
  return read_memory(tid, address, found.data(), Size) == Size && found == bytes;
}

bool is_at_pause(pid_t tid, std::uint64_t pc) {
  return has_at(tid, pc, kPause) || has_at(tid, pc - kPause.size(), kPause);
}

}  // namespace

void Session::take_samples() {
  const base::Milliseconds interval(std::clamp(order_.interval_ms, 1, 1'000));
  const std::int32_t more = std::min(order_.samples, 16) - 1;
  if (stand_still()) return judge_still();
  take_first_pulses();
  for (std::int32_t i = 0; i < more; ++i) take_sample(interval);
  take_missing_loop_samples();
  judge_motions();
}

// ---- no thread runs

// Returns whether all threads sleep now, did so in the kernel's view, and used hardly any CPU in between.
bool Session::stand_still() const {
  if (stopper_.is_waiting()) return false;
  std::this_thread::sleep_until(begin_ + kStillMin);
  for (const Process& process : processes_) {
    for (const wire::ThreadStack& thread : process.told.threads) {
      if (thread.task.state == 'R') return false;
      const evidence::Pulse pulse = evidence::read_pulse(process.told.pid, thread.task.tid);
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
      history.samples.push_back(sample_of(pulse, history));
      history.samples.back().functions = functions_of(thread, false);
    }
  }
}

void Session::take_sample(base::Milliseconds interval) {
  captures_.clear();
  const base::TimePoint end = now() + interval;
  take_loop_samples(end);
  wait_for_late_stops(end);
  stop_again(take_pulses(), now() + std::min(stop_limit_, kStopTogether));
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
Session::Tids Session::take_pulses() {
  Tids moved;
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

void Session::stop_again(const Tids& tids, base::TimePoint deadline) {
  const base::TimePoint begin = now();
  stopper_.stop_again(tids, deadline);
  for (const pid_t tid : tids) {
    MotionHistory& history = histories_[tid];
    history.stopped += now() - begin;
    ++history.stops;
  }
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
  fill(process, now, capture->second);
  history->second.samples.back().functions = functions_of(now, false);
  if (!thread.frames.empty()) return;
  thread.frames = std::move(now.frames);
  thread.gap_after = now.gap_after;
  thread.incomplete = now.incomplete;
  thread.why_none.clear();
}

// ---- registers between two samples

void Session::take_loop_samples(base::TimePoint end) {
  const Tids tids = running();
  while (!tids.empty() && now() + kLoopInterval < end) {
    std::this_thread::sleep_for(kLoopInterval);
    take_loop_sample(tids, std::min(end, now() + kLoopStop));
  }
}

void Session::take_missing_loop_samples() {
  const base::TimePoint end = now() + kLoopExtra;
  Tids tids = running();
  const auto has_enough = [this](pid_t tid) { return histories_[tid].loops.size() >= kLoopSamplesMin + 2; };
  while (now() < end) {
    std::erase_if(tids, has_enough);
    if (tids.empty()) return;
    std::this_thread::sleep_for(kLoopInterval);
    take_loop_sample(tids, end);  // once stopped, a thread had a CPU
  }
}

// Returns threads that had or wanted a CPU at the last sample.
Session::Tids Session::running() {
  Tids tids;
  for (const Process& process : processes_) {
    for (const wire::ThreadStack& thread : process.told.threads) {
      const auto found = histories_.find(thread.task.tid);
      if (found == histories_.end() || !found->second.samples.back().running) continue;
      MotionHistory& history = found->second;
      if (history.sleeps_before < 0) {
        history.sleeps_before = evidence::sleeps_of(process.told.pid, thread.task.tid);
        history.stops = 0;
      }
      if (tids.size() < kLoopThreadsMax) tids.push_back(thread.task.tid);
    }
  }
  return tids;
}

void Session::take_loop_sample(const Tids& tids, base::TimePoint deadline) {
  stop_again(tids, deadline);
  for (const pid_t tid : tids) {
    const auto tracee = stopper_.tracees().find(tid);
    MotionHistory& history = histories_[tid];
    Registers registers;
    const bool is_stopped = tracee != stopper_.tracees().end() && tracee->second.state == Tracee::State::Stopped;
    if (!is_stopped || history.loops.size() >= kLoopSamplesMax || !registers.read(tid)) continue;
    add_loop_sample(history, loop_sample(tracee->second.pid, tid, registers));
  }
  stopper_.release();
}

LoopSample Session::loop_sample(pid_t pid, pid_t tid, const Registers& registers) {
  LoopSample sample;
  sample.pc = registers.pc();
  sample.sp = registers.sp();
  sample.saved = registers.saved();
  sample.scratch = registers.scratch();
  sample.vectors = hash_of_vectors(tid);
  sample.cpu_ns = evidence::read_pulse(pid, tid).cpu_ns;
  const Mapping* mapping = mappings_[pid].find(sample.pc);
  const bool is_behind_call = !kShowsCalls && has_at(tid, sample.pc - kSystemCall.size(), kSystemCall);
  if (registers.call() >= 0 || is_behind_call) {
    sample.place = place_of_call(registers.call());
  } else if (mapping != nullptr && mapping->vdso) {
    sample.place = LoopPlace::Clock;
  } else if (is_at_pause(tid, sample.pc)) {
    sample.place = LoopPlace::Pause;
  }
  return sample;
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

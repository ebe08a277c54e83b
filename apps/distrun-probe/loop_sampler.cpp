#include "loop_sampler.hpp"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include <distrun/common/base/deadline.hpp>
#include <distrun/runner/evidence/proc/task_state.hpp>

#include "memory.hpp"

namespace distrun::probe {
namespace {

constexpr std::chrono::microseconds kLoopInterval{2'500};
constexpr base::Milliseconds kLoopStop{5};  // a thread that gets a CPU later has no such sample
constexpr std::size_t kLoopThreadsMax = 64;
constexpr std::size_t kLoopSamplesMax = 64;  // of one thread

base::TimePoint time_now() { return base::system_clock().now(); }

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

void LoopSampler::take(base::TimePoint end) {
  const Tids tids = running();
  while (!tids.empty() && time_now() + kLoopInterval < end) {
    std::this_thread::sleep_for(kLoopInterval);
    take_one(tids, std::min(end, time_now() + kLoopStop));
  }
}

void LoopSampler::take_missing(base::Milliseconds limit) {
  const base::TimePoint end = base::deadline_after(limit, time_now());
  Tids tids = running();
  const auto is_over = [this](pid_t tid) {
    const MotionHistory& history = histories_[tid];
    return history.loops.size() >= kLoopSamplesMin + 2 || evidence::read_pulse(history.pid, tid).state != 'R';
  };
  while (time_now() < end) {
    std::erase_if(tids, is_over);
    if (tids.empty()) return;
    std::this_thread::sleep_for(kLoopInterval);
    take_one(tids, end);  // once stopped, a thread had a CPU
  }
}

void LoopSampler::stop_again(const Tids& tids, base::TimePoint deadline) {
  const base::TimePoint begin = time_now();
  stopper_.stop_again(tids, deadline);
  for (const pid_t tid : tids) {
    MotionHistory& history = histories_[tid];
    history.stopped += time_now() - begin;
    ++history.stops;
  }
}

LoopSampler::Tids LoopSampler::running() {
  Tids tids;
  for (auto& [tid, history] : histories_) {
    if (history.samples.empty() || !history.samples.back().running) continue;
    if (history.sleeps_before < 0) {
      history.sleeps_before = evidence::sleeps_of(history.pid, tid);
      history.stops = 0;
    }
    if (tids.size() < kLoopThreadsMax) tids.push_back(tid);
  }
  return tids;
}

void LoopSampler::take_one(const Tids& tids, base::TimePoint deadline) {
  stop_again(tids, deadline);
  for (const pid_t tid : tids) {
    const auto tracee = stopper_.tracees().find(tid);
    MotionHistory& history = histories_[tid];
    Registers registers;
    const bool is_stopped = tracee != stopper_.tracees().end() && tracee->second.state == Tracee::State::Stopped;
    if (!is_stopped || history.loops.size() >= kLoopSamplesMax || !registers.read(tid)) continue;
    add_loop_sample(history, sample_of(tracee->second.pid, tid, registers));
  }
  stopper_.release();
}

LoopSample LoopSampler::sample_of(pid_t pid, pid_t tid, const Registers& registers) {
  LoopSample sample;
  sample.pc = registers.pc();
  sample.sp = registers.sp();
  sample.saved = registers.saved();
  sample.scratch = registers.scratch();
  sample.vectors = hash_of_vectors(tid);
  sample.cpu_ns = evidence::read_cpu_ns(pid, tid);
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

}  // namespace distrun::probe

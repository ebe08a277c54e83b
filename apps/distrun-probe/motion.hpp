#pragma once
// Judges how a thread moves from several samples, as a pure function. Thread-safe.
//
// "Spinning" is an accusation, so it needs all of these; a thread that lacks one of the last three is "running":
//   - It was found in the same function, or in one that this function calls, in each sample.
//   - It used at least half of the CPU time that it could get: the time between the samples, without the time for which
//     it was ready and the machine ran others, and without our stops. A loop of short sleeps does not.
//   - It did not sleep in between: its count of voluntary context switches stands still, apart from our own stops. A
//     receiver, a loop over epoll_wait() or a contended lock sleeps often. sched_yield() does not count as sleeping.
//   - It made hardly any page faults. A loop that copies into fresh memory makes many.
//   - Its registers say that it waits rather than computes, and it makes no system calls (busy_wait.hpp).
// Whether it makes progress that its rank shows on the board is not known here: the reader of the motion compares that.
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/wire/stacks.hpp>

#include "busy_wait.hpp"

namespace distrun::probe {

// The CPU time that a thread spends on being stopped once, at most.
inline constexpr std::uint64_t kStopCpu = 200'000;  // ns

struct MotionSample {
  base::TimePoint when;
  std::uint64_t cpu_ns = 0;
  std::uint64_t kept_ns = 0;    // time that it was ready to run without getting a CPU
  std::uint64_t faults = 0;     // page faults
  bool running = false;         // had or wanted a processor
  base::Nanoseconds stopped{};  // time that it may have spent in our stops so far
  // The functions of its stack without those of libc and similar libraries, innermost first. Empty: not sampled, or not
  // again since it had used no CPU.
  std::vector<std::string> functions{};
};

struct MotionHistory {
  pid_t pid = 0;        // its process
  bool waited = false;  // when it was first looked at, before any stop
  std::vector<MotionSample> samples;
  base::Nanoseconds stopped{};      // as in the next sample
  std::vector<LoopSample> loops;    // taken between them, while it was running
  std::size_t stops = 0;            // since sleeps_before was read
  std::int64_t sleeps_before = -1;  // voluntary context switches; -1: unknown
  std::int64_t sleeps_after = -1;
};

// Drops the sample if the thread has hardly run since the last one.
void add_loop_sample(MotionHistory& history, LoopSample sample);

wire::Motion judge_motion(const MotionHistory& history);

// Returns whether a thread has used more CPU in that time than its sampling costs. `running` as in a sample.
bool has_used_cpu(std::uint64_t cpu_ns, base::Nanoseconds time, bool running);

}  // namespace distrun::probe

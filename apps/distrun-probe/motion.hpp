#pragma once
// Judges how a thread moves from several samples, as a pure function. Thread-safe.
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/wire/stacks.hpp>

namespace distrun::probe {

struct MotionSample {
  base::TimePoint when;
  std::uint64_t cpu_ns = 0;
  bool running = false;  // had or wanted a processor
  // The functions of its stack without those of libc and similar libraries, innermost first. Empty: not sampled, or not
  // again since it had used no CPU.
  std::vector<std::string> functions{};
};

wire::Motion judge_motion(const std::vector<MotionSample>& samples);

// Returns whether a thread has used more CPU in that time than its sampling costs. `running` as in a sample.
bool has_used_cpu(std::uint64_t cpu_ns, base::Nanoseconds time, bool running);

}  // namespace distrun::probe

#pragma once
// What several samples of a thread say of it: a pure rule. Any thread.
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
  // The functions of its stack without those of libc and its like, innermost first. Empty: it was not looked at, or not
  // again, since it had used no CPU.
  std::vector<std::string> functions{};
};

wire::Motion judge_motion(const std::vector<MotionSample>& samples);

// Whether a thread has done more in that time than being asked. `running` as in a sample.
bool has_used_cpu(std::uint64_t cpu_ns, base::Nanoseconds time, bool running);

}  // namespace distrun::probe

#pragma once
// Decides from copies of a running thread's registers whether its loop waits for a change of memory, or may compute. A
// pure function; thread-safe.
//
// A loop that reads a flag again and again has the same registers whenever it is at the same instruction. One that
// computes has a counter, a pointer or a result in them that differs. `pause`, sched_yield() and reading the clock are
// used for little but waiting, so they tell more than the registers that they change.
#include <cstdint>
#include <vector>

namespace distrun::probe {

// Where a thread was found.
enum class LoopPlace : std::uint8_t {
  Code,
  Pause,  // at an instruction that tells the processor of a waiting loop, or right behind it
  Yield,  // in sched_yield()
  Clock,  // reading the clock
  Call,   // in another system call
};

struct LoopSample {
  LoopPlace place = LoopPlace::Code;
  std::uint64_t pc = 0;
  std::uint64_t sp = 0;
  std::vector<std::uint64_t> saved;    // registers that functions preserve for their callers
  std::vector<std::uint64_t> scratch;  // other general registers
  std::uint64_t vectors = 0;           // a hash of the floating-point and vector registers
  std::uint64_t cpu_ns = 0;            // CPU time used so far
};

// Fewer samples say nothing.
inline constexpr std::size_t kLoopSamplesMin = 6;

// Returns true only if one of these holds, and no sample is in a system call other than those above:
//   - Most of the samples are at `pause` or in sched_yield(), with the same preserved registers.
//   - Three fifths are there or reading the clock, with the same condition.
//   - Samples at the same instruction have equal registers, and at least half of the samples repeat an instruction.
bool is_busy_wait(const std::vector<LoopSample>& samples);

}  // namespace distrun::probe

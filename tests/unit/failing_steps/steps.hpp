#pragma once
// Steps that fail when memory, threads or descriptors run out. The program replaces operator new, and the functions of
// libc that start a thread, map memory or open a descriptor. While steps count, each call of these is a step:
//
//   recording   it is written down, by the stack that led to it
//   failing     the one that was chosen fails once; all others do what they always do
//
// Any thread. Nothing here allocates.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace distrun::testing {

inline constexpr std::size_t kStepFrames = 32;
inline constexpr std::size_t kStepsMax = 4096;  // different stacks of a scenario

// All steps with one stack.
struct StepSite {
  std::uint64_t stack = 0;  // a hash; 0: the place is free
  const char* what = "";    // "operator new"
  std::uint32_t times = 0;
  std::uint32_t frames = 0;
  std::array<void*, kStepFrames> pcs{};  // innermost first
};

// In memory that processes share: what a child records is read by its parent. Starts as zeros.
struct StepRecord {
  std::atomic_flag busy;   // guards the sites
  std::uint32_t left_out;  // steps with stacks beyond kStepsMax
  std::array<StepSite, kStepsMax> sites;
};

// Which step fails: of those with that stack the nth, from 1.
struct ChosenStep {
  std::uint64_t stack = 0;
  std::uint32_t nth = 1;
};

// Loads what unwinding a stack needs. Once, before any of the others.
void prepare_steps() noexcept;
// Each for the process, from now on. `record` outlives it.
void record_steps(StepRecord& record) noexcept;
void fail_step(ChosenStep step) noexcept;
// Whether the chosen step has come.
bool has_failed_step() noexcept;

// For a scope: steps of all threads count.
class StepsCount {
 public:
  StepsCount() noexcept;
  ~StepsCount();
  StepsCount(const StepsCount&) = delete;
  StepsCount& operator=(const StepsCount&) = delete;
};

}  // namespace distrun::testing

#include "motion.hpp"

#include <algorithm>
#include <utility>

namespace distrun::probe {
namespace {

using Functions = std::vector<std::string>;

constexpr std::int64_t kIdleShare = 50;  // a fiftieth of the time
// Two stops may count: that of this sample, and of the one before, if the thread got no CPU in between.
constexpr std::int64_t kStopsCpu = 2 * kStopCpu;
// A sample may find a loop in a function that it calls.
constexpr std::size_t kCalleesMax = 2;
// A stop counts as one sleep, or as two if the thread waits for its release.
constexpr std::size_t kSleepsOfStop = 2;
constexpr std::size_t kSleepsMax = 4;           // of other causes
constexpr std::uint64_t kFaultsMax = 16;        // of other causes than work
constexpr std::uint64_t kLoopCpuMin = 100'000;  // ns

// Returns the number of common functions of two stacks, from the outermost.
std::size_t common_outer(const Functions& a, const Functions& b) {
  const auto ends = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  return static_cast<std::size_t>(ends.first - a.rbegin());
}

bool was_seen_again(const std::vector<MotionSample>& samples) {
  const auto was_seen = [](const MotionSample& sample) { return !sample.functions.empty(); };
  return std::count_if(samples.begin(), samples.end(), was_seen) > 1;
}

// Returns whether the same function runs, or waits for a function that it calls, in each sample.
bool stayed(const std::vector<MotionSample>& samples) {
  const Functions* first = nullptr;
  std::size_t common = 0;
  std::size_t longest = 0;
  for (const MotionSample& sample : samples) {
    if (sample.functions.empty()) continue;
    common = first == nullptr ? sample.functions.size() : std::min(common, common_outer(*first, sample.functions));
    longest = std::max(longest, sample.functions.size());
    if (first == nullptr) first = &sample.functions;
  }
  return first == nullptr || (common > 0 && longest - common <= kCalleesMax);
}

bool always_ran(const std::vector<MotionSample>& samples) {
  return std::all_of(samples.begin(), samples.end(), [](const auto& sample) { return sample.running; });
}

// A kernel counter that goes backwards belongs to another thread of that number.
std::uint64_t growth(std::uint64_t from, std::uint64_t to) { return to - std::min(from, to); }

std::uint64_t used_cpu(const std::vector<MotionSample>& samples) {
  return growth(samples.front().cpu_ns, samples.back().cpu_ns);
}

// Returns whether it used at least half of the time in which the machine had a CPU for it.
bool used_what_it_got(const std::vector<MotionSample>& samples) {
  if (always_ran(samples)) return true;
  const auto kept = static_cast<std::int64_t>(growth(samples.front().kept_ns, samples.back().kept_ns));
  const base::Nanoseconds stopped = samples.back().stopped - samples.front().stopped;
  const base::Nanoseconds could = samples.back().when - samples.front().when - base::Nanoseconds(kept) - stopped;
  return 2 * static_cast<std::int64_t>(used_cpu(samples)) >= could.count();
}

bool slept(const MotionHistory& history) {
  if (history.sleeps_before < 0 || history.sleeps_after < history.sleeps_before) return true;
  const auto sleeps = static_cast<std::size_t>(history.sleeps_after - history.sleeps_before);
  return sleeps > kSleepsOfStop * history.stops + kSleepsMax;
}

bool is_spinning(const MotionHistory& history) {
  const std::uint64_t faults = growth(history.samples.front().faults, history.samples.back().faults);
  return !slept(history) && faults <= kFaultsMax && is_busy_wait(history.loops);
}

}  // namespace

bool has_used_cpu(std::uint64_t cpu_ns, base::Nanoseconds time, bool running) {
  return running || static_cast<std::int64_t>(cpu_ns) > time.count() / kIdleShare + kStopsCpu;
}

void add_loop_sample(MotionHistory& history, LoopSample sample) {
  const bool has_hardly_run =
      !history.loops.empty() && growth(history.loops.back().cpu_ns, sample.cpu_ns) < kLoopCpuMin;
  if (!has_hardly_run) history.loops.push_back(std::move(sample));
}

wire::Motion judge_motion(const MotionHistory& history) {
  const std::vector<MotionSample>& samples = history.samples;
  if (samples.size() < 2) return wire::Motion::Unknown;
  if (!stayed(samples)) return wire::Motion::Moving;
  const base::Nanoseconds time = samples.back().when - samples.front().when;
  // On a busy machine, a thread whose wait we interrupted is ready in each sample: it lacks a CPU to wait again.
  const bool running = !history.waited && always_ran(samples);
  if (!has_used_cpu(used_cpu(samples), time, running)) return wire::Motion::Waiting;
  if (!used_what_it_got(samples)) return wire::Motion::Moving;
  if (!was_seen_again(samples)) return wire::Motion::Unknown;
  return is_spinning(history) ? wire::Motion::Spinning : wire::Motion::Running;
}

}  // namespace distrun::probe

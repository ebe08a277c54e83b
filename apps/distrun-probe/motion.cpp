#include "motion.hpp"

#include <algorithm>

namespace distrun::probe {
namespace {

using Functions = std::vector<std::string>;

// A stop and a release cost a thread some microseconds of CPU time.
constexpr std::int64_t kIdleShare = 50;  // a fiftieth of the time
// A sample may find a loop in a function that it calls.
constexpr std::size_t kCalleesMax = 2;

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

}  // namespace

bool has_used_cpu(std::uint64_t cpu_ns, base::Nanoseconds time, bool running) {
  return running || static_cast<std::int64_t>(cpu_ns) > time.count() / kIdleShare;
}

wire::Motion judge_motion(const std::vector<MotionSample>& samples) {
  if (samples.size() < 2) return wire::Motion::Unknown;
  const MotionSample& first = samples.front();
  const MotionSample& last = samples.back();
  const bool running = std::all_of(samples.begin(), samples.end(), [](const auto& sample) { return sample.running; });
  const std::uint64_t used = last.cpu_ns - std::min(first.cpu_ns, last.cpu_ns);
  if (!stayed(samples)) return wire::Motion::Moving;
  if (!has_used_cpu(used, last.when - first.when, running)) return wire::Motion::Waiting;
  return was_seen_again(samples) ? wire::Motion::Spinning : wire::Motion::Unknown;
}

}  // namespace distrun::probe

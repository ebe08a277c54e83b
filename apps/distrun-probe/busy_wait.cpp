#include "busy_wait.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

namespace distrun::probe {
namespace {

using Samples = std::vector<LoopSample>;

std::size_t count(const Samples& samples, LoopPlace place) {
  return static_cast<std::size_t>(std::count_if(samples.begin(), samples.end(),
                                                [place](const LoopSample& sample) { return sample.place == place; }));
}

bool is_waiting(const LoopSample& sample) {
  return sample.place == LoopPlace::Pause || sample.place == LoopPlace::Yield;
}

// A loop that waits for a lock again and again and gets it has a counter somewhere.
bool waits_unchanged(const Samples& samples) {
  const auto first = std::find_if(samples.begin(), samples.end(), is_waiting);
  return std::all_of(first, samples.end(),
                     [&](const LoopSample& sample) { return !is_waiting(sample) || sample.saved == first->saved; });
}

bool is_equal(const LoopSample& a, const LoopSample& b) {
  return a.sp == b.sp && a.saved == b.saved && a.scratch == b.scratch && a.vectors == b.vectors;
}

bool repeats_unchanged(const Samples& samples) {
  std::map<std::uint64_t, const LoopSample*> known;
  for (const LoopSample& sample : samples) {
    const auto [at, is_new] = known.try_emplace(sample.pc, &sample);
    if (!is_new && !is_equal(*at->second, sample)) return false;
  }
  return 2 * known.size() <= samples.size();
}

}  // namespace

bool is_busy_wait(const Samples& samples) {
  const std::size_t all = samples.size();
  if (all < kLoopSamplesMin || count(samples, LoopPlace::Call) > 0) return false;
  const std::size_t waits = count(samples, LoopPlace::Pause) + count(samples, LoopPlace::Yield);
  const std::size_t quiet = waits + count(samples, LoopPlace::Clock);
  if (2 * waits > all || 5 * quiet >= 3 * all) return waits_unchanged(samples);
  return repeats_unchanged(samples);
}

}  // namespace distrun::probe

#include <distrun/runtime/device/lattice.hpp>

#include <algorithm>

namespace distrun::device {
namespace {

using Step = Lattice::Step;

// Sorts by rising stride, merges steps without gaps into one run, and regular sequences of two steps into one step.
void simplify(Lattice& lattice) {
  std::sort(lattice.steps.begin(), lattice.steps.end(), [](Step a, Step b) { return a.stride < b.stride; });
  std::vector<Step> kept;
  for (const Step step : lattice.steps) {
    if (kept.empty() && step.stride <= lattice.run) {
      lattice.run += step.stride * (step.count - 1);
    } else if (!kept.empty() && step.stride == kept.back().stride * kept.back().count) {
      kept.back().count *= step.count;
    } else {
      kept.push_back(step);
    }
  }
  std::reverse(kept.begin(), kept.end());
  lattice.steps = std::move(kept);
}

}  // namespace

std::optional<Lattice> lattice_of(const Region& region) {
  Lattice lattice;
  lattice.begin = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(region.begin));
  lattice.run = static_cast<std::int64_t>(region.element_bytes);
  if (lattice.run == 0) return std::nullopt;
  for (std::size_t i = 0; i < region.sizes.size(); ++i) {
    const std::int64_t count = region.sizes[i];
    const std::int64_t stride = region.strides[i] * lattice.run;
    if (count == 0) return std::nullopt;
    if (count == 1 || stride == 0) continue;
    if (stride < 0) lattice.begin += stride * (count - 1);
    lattice.steps.push_back({stride < 0 ? -stride : stride, count});
  }
  lattice.end = lattice.begin + lattice.run;
  for (const Step step : lattice.steps) lattice.end += step.stride * (step.count - 1);
  simplify(lattice);
  return lattice;
}

}  // namespace distrun::device

#include <distrun/runtime/device/overlap.hpp>

#include <algorithm>
#include <numeric>

namespace distrun::device {
namespace {

using Step = Lattice::Step;

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

std::int64_t reach(const std::vector<Step>& steps, std::size_t from, std::int64_t run) {
  for (std::size_t i = from; i < steps.size(); ++i) run += steps[i].stride * (steps[i].count - 1);
  return run;
}

// Returns whether [from, to) shares a byte with the part of `lattice` from that step on, placed at `base`.
bool touches(const Lattice& lattice, std::size_t step, std::int64_t base, std::int64_t from, std::int64_t to) {
  if (step == lattice.steps.size()) return base < to && from < base + lattice.run;
  const auto [stride, count] = lattice.steps[step];
  const std::int64_t inner = reach(lattice.steps, step + 1, lattice.run);
  // A copy begins within the range: its first byte is there.
  const std::int64_t inside = std::max<std::int64_t>(ceil_div(from - base, stride), 0);
  if (inside < count && base + inside * stride < to) return true;
  // Copies that begin before the range and reach into it.
  const std::int64_t first = std::max<std::int64_t>(ceil_div(from - inner + 1 - base, stride), 0);
  const std::int64_t last = std::min(inside, count) - 1;
  for (std::int64_t i = first; i <= last; ++i) {
    if (touches(lattice, step + 1, base + i * stride, from, to)) return true;
  }
  return false;
}

std::int64_t runs(const Lattice& lattice) {
  std::int64_t count = 1;
  for (const Step step : lattice.steps) count *= step.count;
  return count;
}

bool any_run_touches(const Lattice& few, std::size_t step, std::int64_t base, const Lattice& many) {
  const std::int64_t end = base + reach(few.steps, step, few.run);
  if (base >= many.end || end <= many.begin) return false;
  if (step == few.steps.size()) return touches(many, 0, many.begin, base, end);
  const auto [stride, count] = few.steps[step];
  for (std::int64_t i = 0; i < count; ++i) {
    if (any_run_touches(few, step + 1, base + i * stride, many)) return true;
  }
  return false;
}

// All runs begin at begin + a multiple of g; so if they don't meet within a stretch of g bytes they meet nowhere.
bool meet_within_common_stride(const Lattice& a, const Lattice& b) {
  std::int64_t g = 0;
  for (const Step step : a.steps) g = std::gcd(g, step.stride);
  for (const Step step : b.steps) g = std::gcd(g, step.stride);
  if (g == 0) return true;
  const std::int64_t distance = ((b.begin - a.begin) % g + g) % g;
  return distance < a.run || g - distance < b.run;
}

}  // namespace

bool overlap(const Lattice& a, const Lattice& b) {
  if (a.begin >= b.end || b.begin >= a.end) return false;
  if (!meet_within_common_stride(a, b)) return false;
  return runs(a) <= runs(b) ? any_run_touches(a, 0, a.begin, b) : any_run_touches(b, 0, b.begin, a);
}

bool covers(const Lattice& outer, const Lattice& inner) noexcept {
  const bool is_dense = outer.steps.empty();
  return is_dense ? outer.begin <= inner.begin && inner.end <= outer.end : outer == inner;
}

}  // namespace distrun::device

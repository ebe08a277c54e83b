#include <distrun/runner/attempt/bounds.hpp>

#include <algorithm>
#include <array>

namespace distrun::runner {
namespace {

using std::chrono::seconds;

// Indexed by wire::Phase: spawn, load, rendezvous, set-up, body (default of --timeout), tear-down, exit.
constexpr std::array<seconds, wire::kPhaseCount> kBounds{seconds(10),  seconds(30), seconds(30), seconds(60),
                                                         seconds(300), seconds(60), seconds(5)};

constexpr seconds kEvidenceMax(30);

// The longest bound, practically infinite: sums with it must not overflow.
constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);

Nanoseconds scaled(Nanoseconds bound, const Settings& settings) {
  const std::chrono::duration<double, std::nano> product(static_cast<double>(bound.count()) * settings.timeout_scale);
  return product < kLongest ? std::chrono::duration_cast<Nanoseconds>(product) : Nanoseconds(kLongest);
}

Nanoseconds body_bound(const wire::TestInfo& test, const Settings& settings) {
  if (settings.timeout_override > Nanoseconds::zero()) return settings.timeout_override;
  if (test.timeout_ms > 0) return std::min(std::chrono::milliseconds(test.timeout_ms), kLongest);
  return settings.timeout > Nanoseconds::zero() ? settings.timeout : Nanoseconds(kLongest);
}

}  // namespace

Nanoseconds bound_of(wire::Phase phase, const wire::TestInfo& test, const Settings& settings) {
  const Nanoseconds bound =
      phase == wire::Phase::Body ? body_bound(test, settings) : Nanoseconds(kBounds[static_cast<std::size_t>(phase)]);
  return scaled(bound, settings);
}

Graces scaled_evidence(Graces graces, const Settings& settings) {
  if (settings.timeout_scale <= 1) return graces;
  for (Nanoseconds* bound : {&graces.evidence, &graces.timeout_evidence, &graces.last_snapshot}) {
    *bound = std::min(scaled(*bound, settings), std::max<Nanoseconds>(*bound, kEvidenceMax));
  }
  return graces;
}

Nanoseconds load_bound(const Settings& settings) {
  return scaled(kBounds[static_cast<std::size_t>(wire::Phase::Load)], settings);
}

}  // namespace distrun::runner

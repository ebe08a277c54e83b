// Larger worlds, at random: random orders of events to their end, for each seed.
#include <catch2/catch.hpp>

#include <algorithm>

#include "model/explore.hpp"
#include "support/environment.hpp"

namespace distrun::rref::model {
namespace {

constexpr std::uint64_t kSeeds = 50;

void walk_all(const Bounds& bounds) {
  const std::size_t least = testing::runs_whole() ? 3000 : 300;  // steps of a seed
  std::size_t longest = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    base::Rng rng(seed);
    for (std::size_t steps = 0; steps < least;) {
      const Explored found = walk(bounds, rng);
      INFO("seed " << seed << "\n" << found.violation);
      REQUIRE(found.violation.empty());
      steps += found.transitions;
      longest = std::max(longest, found.depth);
    }
  }
  CHECK(longest > 100);
}

Bounds large() {
  Bounds bounds;
  bounds.workers = 5;
  bounds.references = 10;
  bounds.shares = 60;
  bounds.faults = 40;
  bounds.give_ups = 3;
  bounds.withdraws = 6;
  bounds.has_locals = bounds.shares_with_self = true;
  return bounds;
}

TEST_CASE("five workers and ten references, at random") { walk_all(large()); }

TEST_CASE("five workers and ten references, at random, and one worker dies") {
  Bounds bounds = large();
  bounds.losses = 1;
  walk_all(bounds);
}

}  // namespace
}  // namespace distrun::rref::model

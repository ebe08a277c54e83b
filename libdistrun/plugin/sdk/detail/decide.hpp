#pragma once
// Decides before the run whether a test runs with the run's settings, and with how many ranks.
#include <optional>

#include <distrun/plugin/sdk/options.hpp>

namespace distrun::detail {

struct Decision {
  int world_size = 0;  // the result of the rule; 0: `skip` has the reason
  std::optional<Skip> skip;
};

// Checks in this order: world size, required backends, agents and devices, conditions. The first one that fails gives
// the reason. `run` has the run's world size.
Decision decide(const TestOptions& options, ListContext run);

}  // namespace distrun::detail

#pragma once
// Whether a test runs with the settings of a run, and with how many ranks: decided beforehand.
#include <optional>

#include <distrun/plugin/sdk/options.hpp>

namespace distrun::detail {

struct Decision {
  int world_size = 0;  // what the rule comes to; 0 if it comes to nothing, and then `skip` says why
  std::optional<Skip> skip;
};

// In this order: the world size, the backends, agents and devices that the test needs, its
// conditions. The first that is against it gives the reason. `run` has the run's world size.
Decision decide(const TestOptions& options, ListContext run);

}  // namespace distrun::detail

#include <distrun/runner/attempt/make_provisions.hpp>

#include <distrun/runner/attempt/local_provisions.hpp>
#include <distrun/runner/attempt/spread_provisions.hpp>

namespace distrun::runner {

std::unique_ptr<Provisions> make_provisions(const RunContext& run, const PlannedTest& test, int n,
                                            const Environment& environment) {
  if (run.node.is_spread()) return std::make_unique<SpreadProvisions>(run, test, n, environment.stay);
  return std::make_unique<LocalProvisions>(run, test, n, environment);
}

}  // namespace distrun::runner

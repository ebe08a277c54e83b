#pragma once
// Chooses what provides for the ranks of an attempt.
#include <memory>

#include <distrun/runner/attempt/provisions.hpp>

namespace distrun::runner {

// Returns those for the node of the run. `run` and `test` must outlive them. Throws Error if the work directories
// cannot be created, or no port is free.
std::unique_ptr<Provisions> make_provisions(const RunContext& run, const PlannedTest& test, int n,
                                            const Environment& environment);

}  // namespace distrun::runner

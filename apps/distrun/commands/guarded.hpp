#pragma once
// Runs a coordinator under its guard.
#include <functional>

#include <distrun/runner/proc/guard.hpp>

namespace distrun::cli {

// Returns the exit code of `coordinate`. An exception (such as a limit of this process that is too low) is printed on
// stderr and gives kInfraError; the run's files are removed.
int guarded(const proc::RunPlaces& places, const std::function<int(proc::Coordinator)>& coordinate,
            const proc::GuardBounds& bounds = {});

}  // namespace distrun::cli

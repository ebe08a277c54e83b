#pragma once
// A coordinator under its guard, and what is said when it cannot go on at all.
#include <functional>

#include <distrun/runner/proc/guard.hpp>

namespace distrun::cli {

// The exit code of `coordinate`. An error that leaves it, be it that a limit of this process denied what it cannot do
// without, is a sentence on standard error and kInfraError; the files of the run are removed.
int guarded(const proc::RunPlaces& places, const std::function<int(proc::Coordinator)>& coordinate,
            const proc::GuardBounds& bounds = {});

}  // namespace distrun::cli

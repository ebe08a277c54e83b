#pragma once
// The settings of a run as shown in reports. Others may read these files, so they contain only the names of --env,
// unless --env-values was given.
#include <distrun/runner/record/record.hpp>

namespace distrun::report {

runner::Settings reported(const runner::Settings& settings);

}  // namespace distrun::report

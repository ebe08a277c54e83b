#pragma once
// The settings of a run as its reports tell them. Others may read these files, so of --env they have the names alone,
// unless --env-values was given.
#include <distrun/runner/record/record.hpp>

namespace distrun::report {

runner::Settings reported(const runner::Settings& settings);

}  // namespace distrun::report

#pragma once
// Describes the machine for reports.
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

Machine this_machine();
// Returns the number of CPUs that this process may use, without those excluded by taskset or a cpuset.
int usable_cpus();

}  // namespace distrun::runner

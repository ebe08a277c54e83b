#pragma once
// What a report says of the machine, and what is asked of it.
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

Machine this_machine();
// Those that this process may run on: without those that taskset or a cpuset keeps from it.
int usable_cpus();

}  // namespace distrun::runner

#pragma once
// What a report says of the machine.
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

Machine this_machine();

}  // namespace distrun::runner

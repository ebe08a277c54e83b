#pragma once
// The variables that a rank finds, as its order says.
#include <distrun/wire/control.hpp>

namespace distrun::rank {

// DISTRUN_* and WORLD_SIZE, BACKEND, INIT_METHOD, TEMP_DIR, MASTER_ADDR, then the order's own list, which wins.
void set_environment(const wire::RunOrder& order);

}  // namespace distrun::rank

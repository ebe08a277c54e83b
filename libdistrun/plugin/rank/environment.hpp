#pragma once
// The variables that a rank finds, as its order says.
#include <distrun/common/wire/control.hpp>

namespace distrun::rank {

// What an earlier order's list has set is as it was before. DISTRUN_* and WORLD_SIZE, BACKEND, INIT_METHOD, TEMP_DIR,
// TMPDIR, MASTER_ADDR, then the order's own list, which wins. While no other thread reads the environment.
void set_environment(const wire::RunOrder& order);

}  // namespace distrun::rank

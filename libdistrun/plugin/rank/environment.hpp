#pragma once
// The environment variables of a rank, from its order.
#include <distrun/common/wire/control.hpp>

namespace distrun::rank {

// Restores the variables that an earlier order's list has set, then sets DISTRUN_* and WORLD_SIZE, BACKEND,
// INIT_METHOD, TEMP_DIR, TMPDIR, MASTER_ADDR, and last the order's list, which wins. No other thread may read it
// meanwhile.
void set_environment(const wire::RunOrder& order);

}  // namespace distrun::rank

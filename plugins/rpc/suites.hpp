#pragma once
// Shared by the tests of RPC.
#include "support/rpc_suites.hpp"

namespace distrun::suites {

inline bool ranks_share_process(const ListContext& run) { return run.isolation == "threads"; }

}  // namespace distrun::suites

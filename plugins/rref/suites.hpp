#pragma once
// Shared by the tests of references.
#include "support/rpc_suites.hpp"
#include "support/rref_callees.hpp"

namespace distrun::suites {

// Returns ten sizes, the last 45 above the first.
inline std::vector<std::int64_t> growing_sizes(const Rank& rank) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0, n = n_of(rank); i < 10; ++i) sizes.push_back(n += i);
  return sizes;
}

// Starts a session with one worker, "me".
inline void start_rpc_alone(const Rank& rank) {
  rpc::init_rpc({.name = "me",
                 .backend = agent_backend(rank),
                 .rank = 0,
                 .world_size = 1,
                 .options = rpc_options(rank, ".alone")});
}

}  // namespace distrun::suites

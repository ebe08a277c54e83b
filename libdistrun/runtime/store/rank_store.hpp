#pragma once
// The store that the ranks of a test share without asking: in memory that the runner has made for the attempt, and
// which needs neither a port nor a file.
#include <memory>

#include <distrun/runtime/store/store.hpp>

namespace distrun::stores {

// Of the test that runs; each attempt begins with an empty one. Throws Error{Unimplemented} in a process that distrun
// has not started, with the way out.
std::shared_ptr<Store> rank_store();

}  // namespace distrun::stores

#pragma once
// The store that the ranks of a test share by default: in memory that the runner creates for the attempt. Needs neither
// a port nor a file.
#include <memory>

#include <distrun/runtime/store/store.hpp>

namespace distrun::stores {

// Returns the running test's store; each attempt begins with an empty one. Throws Error{Unimplemented}, with an
// alternative, in a process that distrun has not started.
std::shared_ptr<Store> rank_store();

}  // namespace distrun::stores

#pragma once
// The store that the ranks of a test share without an address: a file that the runner has created for the attempt.
#include <memory>

#include <distrun/runtime/store/store.hpp>

namespace distrun::stores {

// Opens the store of the running test, which is empty when the attempt begins. Throws Error{Unimplemented} in a process
// that distrun has not started.
std::shared_ptr<Store> rank_store();

}  // namespace distrun::stores

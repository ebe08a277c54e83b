#pragma once
// The backend `gloo`: collectives by the library, over TCP of this machine, for comparisons with systems that use it.
//
// Before the library moves a byte, the ranks meet in the memory that `shm` would share: who does not come, calls
// something else or has gone is told as there, and gloo, which would hang or end the process, never sees it. What can
// fail then is what happens while bytes move: a death, an abort, a timeout; gloo's text stands in the error. A group is
// left after all have what they want of the last call: gloo's connections lose what is on its way when they are closed.
//
// Letters are those of `shm`: with gloo one that is not taken until its deadline would end all of its connections.
// gloo has no reduce_scatter for any number of ranks; it is made of its all_reduce, as elsewhere.
#include <memory>
#include <string>

#include <distrun/runtime/collectives/backend.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives {

// "this distrun was built without gloo: ..."; empty: it is there. Opens the module.
std::string why_no_gloo();
// Whether there is a module; does not open it.
bool has_gloo();

// As make_backend().
std::unique_ptr<Backend> make_gloo_backend(const GroupInfo& group, Store& store, base::TimePoint deadline);

}  // namespace distrun::collectives

#pragma once
// The backend `gloo`: collectives by the gloo library, over local TCP, for comparison with systems that use it.
//
// Before the library moves a byte, the ranks meet in shared memory as for `shm`. Absent ranks, different calls and
// ranks that have gone are reported as there, and never reach gloo, which would hang or end the process. What remains
// can fail while bytes move: a death, an abort, a timeout; the error contains gloo's text. A rank leaves a group after
// all ranks have the results of the last call, since gloo's connections lose data in flight when they are closed.
//
// Point-to-point messages are those of `shm`: with gloo a message that is not received by its deadline would end all of
// its connections. gloo has no reduce_scatter for any number of ranks; it is built on gloo's all_reduce, as elsewhere.
#include <memory>
#include <string>

#include <distrun/runtime/collectives/host_backend.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives {

// Returns "this distrun was built without gloo: ..."; empty if it is available. Opens the module.
std::string why_no_gloo();
// Returns whether there is a module, without opening it.
bool has_gloo();

// Does the same as make_backend().
std::unique_ptr<HostBackend> make_gloo_backend(const GroupInfo& group, Store& store, base::TimePoint deadline);

}  // namespace distrun::collectives

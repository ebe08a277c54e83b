#pragma once
// The backend `nccl`: moves tensors on GPUs in stream order while the host continues. On real GPUs a module opens the
// library when a group first needs it (nccl_line.hpp); virtual GPUs use a stand-in with the same contract
// (virtual_library.hpp). Both share everything except moving the bytes.
//
// Each rank has its own GPU. A call runs on the group's stream of that GPU, after the work on the calling thread's
// current stream; a wait for the work makes the waiter's current stream wait. Point-to-point messages arrive in the
// order in which they are sent, for each direction between two ranks, and have no tags.
#include <memory>
#include <string>

#include <distrun/runtime/collectives/backend_options.hpp>
#include <distrun/runtime/collectives/device_backend.hpp>

namespace distrun::collectives {

// Returns "backend nccl needs a GPU for each rank: ...; on virtual ones it runs with ..."; empty if it is available.
// Opens the module if there are real GPUs.
std::string why_no_nccl();

// Does the same as make_backend(). Throws Error{InvalidArgument} also if two ranks use one GPU.
std::unique_ptr<DeviceBackend> make_nccl_backend(const GroupInfo& group, Store& store, base::TimePoint deadline,
                                                 const BackendOptions& options);

}  // namespace distrun::collectives

#pragma once
// The backend `nccl`: tensors on GPUs, moved there in the order of streams while the host goes on. On real GPUs it is
// the library, which a module opens when a group first asks for it (nccl_line.hpp); on virtual ones a stand-in with the
// same contract (virtual_library.hpp). All that is not the moving of bytes is the same for both.
//
// Each rank has a GPU of its own. A call goes to the group's stream of it, behind what the calling thread's current
// stream has to do; who waits for the work lets its current stream wait. Letters are in the order in which they are
// sent, for each direction between two ranks, and have no tags.
#include <memory>
#include <string>

#include <distrun/runtime/collectives/backend_options.hpp>

namespace distrun::collectives {

// "backend nccl needs a GPU for each rank: ...; on virtual ones it runs with ..."; empty: it is there. Opens the module
// where there are real GPUs.
std::string why_no_nccl();

// As make_backend(). Throws Error{InvalidArgument} if two ranks are on one GPU, too.
std::unique_ptr<Backend> make_nccl_backend(const GroupInfo& group, Store& store, base::TimePoint deadline,
                                           const BackendOptions& options);

}  // namespace distrun::collectives

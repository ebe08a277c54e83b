#pragma once
// What stands in for NCCL on virtual GPUs: collectives in the order of a stream, which wait for the other ranks there
// while the host goes on. The bytes are moved by the exchange of `shm`.
//
// A call is two pieces of work on its stream: a kernel that names exactly the bytes that are read and written, for the
// check of stream order, and takes the addresses at which the device has them; and a callback, which may wait, that
// moves them. So a tensor that is used without waiting for its work is reported where it is used, in each run.
//
// Ranks that do not call the same or do not come are found by the exchange, on the stream. What fails there leaves no
// error on the stream: as with NCCL it goes on, with bytes that mean nothing, and the communicator knows.
#include <memory>

#include <distrun/runtime/collectives/nccl/nccl_line.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives {

// Of a group, whose store it meets in; `store` outlives it.
std::unique_ptr<nccl_line::Library> make_virtual_library(Store& store);

// The NCCL whose contract it has.
inline constexpr nccl_line::Version kVirtualVersion{2, 28, 9};

}  // namespace distrun::collectives

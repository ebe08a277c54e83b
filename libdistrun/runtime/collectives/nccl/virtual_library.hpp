#pragma once
// The stand-in for NCCL on virtual GPUs: collectives in stream order, which wait for the other ranks on the stream
// while the host continues. The exchange of `shm` moves the bytes.
//
// A call is two pieces of work on its stream: a kernel that names exactly the bytes that are read and written, for the
// check of stream order, and takes their addresses on the device; and a callback, which may block, that moves them. So
// a tensor that is used without waiting for its work is reported where it is used, in each run.
//
// The exchange detects absent ranks and different calls, on the stream. A failure leaves no error on the stream: as
// with NCCL the stream continues with undefined bytes, and the communicator has the error.
#include <memory>

#include <distrun/runtime/collectives/nccl/nccl_line.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives {

// Creates the library for a group that meets in `store`, which must outlive it.
std::unique_ptr<nccl_line::Library> make_virtual_library(Store& store);

// It follows the contract of this NCCL version.
inline constexpr nccl_line::Version kVirtualVersion{2, 28, 9};

}  // namespace distrun::collectives

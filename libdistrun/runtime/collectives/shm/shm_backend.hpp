#pragma once
// The backends `shm`, for ranks of one machine, and `threads`, for ranks of one process, which differ only in what they
// refuse. Both move bytes through memory that the group shares (layout.hpp).
//
//   all_reduce   small: each rank shows and reduces all; larger: each rank reduces a slice and takes the others' slices
//   reduce       the same, but only the root takes
//   others       one exchange: ranks show what they have, and take what they want
//
// shm_backend.cpp defines what is small.
#include <memory>

#include <distrun/runtime/collectives/host_backend.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives {

struct ShmOptions {
  bool threads_only = false;
  bool single_copy = true;  // read bytes in place where that is possible and faster
};

// Meets the other ranks of the group in `store`, which is private to the group. Throws Error{Timeout} naming the ranks
// that are absent at the deadline, Error{InvalidArgument} if ranks are on several machines, or in several processes
// where that is refused.
std::unique_ptr<HostBackend> make_shm_backend(const GroupInfo& group, Store& store, base::TimePoint deadline,
                                              ShmOptions options);

}  // namespace distrun::collectives

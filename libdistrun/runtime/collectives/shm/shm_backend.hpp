#pragma once
// The backends `shm`, for ranks of one machine, and `threads`, for ranks of one process: the same but for what they
// refuse. Both move bytes through memory that the group shares (layout.hpp).
//
//   all_reduce   small: everybody shows all and reduces all; larger: each rank reduces a slice, and takes the others'
//   reduce       the same, and only the root takes
//   others       one exchange: who has something shows it, who wants it takes it
//
// What is small is in shm_backend.cpp.
#include <memory>

#include <distrun/runtime/collectives/backend.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives {

struct ShmOptions {
  bool threads_only = false;
  bool single_copy = true;  // bytes are taken where their owner has them, where that is possible and quicker
};

// Meets the other ranks of the group in `store`, which is the group's own. Throws Error{Timeout} naming who has not
// come by the deadline, Error{InvalidArgument} if ranks are on several machines, or in several processes where that is
// refused.
std::unique_ptr<Backend> make_shm_backend(const GroupInfo& group, Store& store, base::TimePoint deadline,
                                          ShmOptions options);

}  // namespace distrun::collectives

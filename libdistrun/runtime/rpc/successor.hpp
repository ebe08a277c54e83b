#pragma once
// Workers that have joined under the id of another: what agents and sessions have in common about them.
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>

namespace distrun::rpc {

// Returns whether `one` has joined under the id of `other`, after it. False if the incarnation of either is not known.
bool is_successor(const WorkerInfo& one, const WorkerInfo& other) noexcept;

// What calls to a worker fail with that has a successor.
base::Error replaced_error(const WorkerInfo& worker);

// Thrown for a worker that is to be added, while its successor is known.
base::Error outdated_error(const WorkerInfo& worker);

}  // namespace distrun::rpc

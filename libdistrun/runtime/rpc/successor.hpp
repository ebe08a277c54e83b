#pragma once
// Workers that have joined under the id of an earlier worker: rules that agents and sessions share.
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>

namespace distrun::rpc {

// Returns whether `one` has joined under the id of `other`, after it. False if the incarnation of either is not known.
bool is_successor(const WorkerInfo& one, const WorkerInfo& other) noexcept;

// Returns the error of calls to a worker that has a successor.
base::Error replaced_error(const WorkerInfo& worker);

// Returns the error of adding a worker while its successor is known.
base::Error outdated_error(const WorkerInfo& worker);

}  // namespace distrun::rpc

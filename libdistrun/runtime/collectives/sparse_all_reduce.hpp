#pragma once
// The sum of sparse tensors of all ranks.
#include <distrun/runtime/collectives/process_group.hpp>

namespace distrun::collectives {

// A new one, coalesced, the same on all ranks; inputs may have any number of entries, also none. Sums alone: throws
// Error{InvalidArgument} for another operation, and for ranks whose tensors differ in sizes or dtype.
Tensor all_reduce_sparse(ProcessGroup& group, const Tensor& sparse, ReduceOp op = ReduceOp::Sum,
                         base::Location site = base::Location::here());

}  // namespace distrun::collectives

#pragma once
// Sums the sparse tensors of all ranks.
#include <distrun/runtime/collectives/process_group.hpp>

namespace distrun::collectives {

// Returns a new coalesced tensor, the same on all ranks; inputs may have any number of entries, including none.
// Supports only sums: throws Error{InvalidArgument} for another operation, and if the tensors differ in sizes or dtype.
Tensor all_reduce_sparse(ProcessGroup& group, const Tensor& sparse, ReduceOp op = ReduceOp::Sum,
                         base::Location site = base::Location::here());

}  // namespace distrun::collectives

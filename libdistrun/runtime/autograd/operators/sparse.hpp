#pragma once
// Creation and parts of sparse COO tensors. See <distrun/runtime/tensor/sparse/sparse.hpp>.
#include <distrun/runtime/tensor/sparse/sparse.hpp>

namespace distrun {

using tensor::is_coalesced;
using tensor::nnz;
using tensor::sparse_dim;

// Creates a sparse tensor of indices int64 [sparse dimensions, n] and values [n, dense sizes...], which it shares. The
// gradient of the values is the tensor's gradient at their indices. Throws Error{InvalidArgument} for shapes that do
// not fit, and for indices out of range.
Tensor sparse_coo(const Tensor& indices, const Tensor& values, const Dims& sizes);
// Adds up entries of the same index and sorts all; returns the tensor itself if it is coalesced.
Tensor coalesce(const Tensor& sparse);
Tensor to_dense(const Tensor& sparse);  // its gradient is sparse; returns a dense tensor itself

// These return tensors that share the bytes of the parts and are in no graph: they don't lead back to a leaf that the
// sparse tensor was created from. Changing them in place changes the sparse tensor, increases its version and has no
// gradient; after an in-place operator on the sparse tensor they hold its former parts.
Tensor indices(const Tensor& sparse);
Tensor values(const Tensor& sparse);

}  // namespace distrun

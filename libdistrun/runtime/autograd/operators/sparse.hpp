#pragma once
// Sparse COO tensors as users make and read them. <distrun/runtime/tensor/sparse/sparse.hpp> says what each does.
#include <distrun/runtime/tensor/sparse/sparse.hpp>

namespace distrun {

using tensor::is_coalesced;
using tensor::nnz;
using tensor::sparse_dim;

// The gradient of the values is what the tensor's has at their indices.
Tensor sparse_coo(const Tensor& indices, const Tensor& values, const Dims& sizes);
Tensor coalesce(const Tensor& sparse);
Tensor to_dense(const Tensor& sparse);  // its gradient is sparse; a dense tensor is itself

// Tensors of their own that share the bytes of the parts, and are in no graph: a leaf that a sparse tensor was made of
// does not come back. A change of them in place is one of the sparse tensor, which its version counts, and has no
// gradient; after an in-place operator of the sparse tensor they are what its parts were before.
Tensor indices(const Tensor& sparse);
Tensor values(const Tensor& sparse);

}  // namespace distrun

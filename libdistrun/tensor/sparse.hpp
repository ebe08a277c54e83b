#pragma once
// Sparse COO tensors: `indices` int64 [sparse_dim, nnz], `values` [nnz, dense sizes...]. Coalesced: indices are sorted
// and each occurs once.
#include <distrun/tensor/tensor.hpp>

namespace distrun::tensor {

class SparseImpl final : public TensorImpl {
 public:
  SparseImpl(Tensor indices, Tensor values, Dims sizes, bool coalesced);

  const Tensor indices;
  const Tensor values;
  const bool coalesced;
};

// Shares both. Throws Error{InvalidArgument} for shapes that don't fit and, on the CPU, for indices out of range.
Tensor sparse_coo(const Tensor& indices, const Tensor& values, const Dims& sizes);
// With the caller's word for it that all is right.
Tensor sparse_coo_unchecked(Tensor indices, Tensor values, const Dims& sizes, bool coalesced);
const SparseImpl& sparse(const Tensor& tensor);  // throws Error{InvalidArgument} for a dense one

std::int64_t nnz(const Tensor& sparse);
std::int64_t sparse_dim(const Tensor& sparse);
bool is_coalesced(const Tensor& sparse);
Tensor coalesce(const Tensor& sparse);  // itself if it is
Tensor to_dense(const Tensor& sparse);

}  // namespace distrun::tensor

#pragma once
// Sparse COO tensors: `indices` int64 [sparse_dim, nnz], `values` [nnz, dense sizes...]. Coalesced: indices are sorted
// and each occurs once.
#include <distrun/runtime/tensor/tensor.hpp>

namespace distrun::tensor {

// Indices and values of one tensor and of those that detach from it. In-place operators put others in their place.
class SparseParts final : public Counted {
 public:
  SparseParts(Tensor indices_, Tensor values_, bool coalesced_)
      : indices(std::move(indices_)), values(std::move(values_)), coalesced(coalesced_) {}

  Tensor indices;
  Tensor values;
  bool coalesced;
  std::atomic<std::uint32_t> version{0};
};

class SparseImpl final : public TensorImpl {
 public:
  SparseImpl(Ref<SparseParts> shared, Dims sizes);

  const Ref<SparseParts> parts;
};

const SparseParts& sparse(const Tensor& tensor);  // throws Error{InvalidArgument} for a dense one
std::int64_t nnz(const Tensor& sparse);           // stored entries
std::int64_t sparse_dim(const Tensor& sparse);
bool is_coalesced(const Tensor& sparse);

namespace plain {

// Shares both. Throws Error{InvalidArgument} for shapes that don't fit and for indices out of range (on a GPU that
// waits for them).
Tensor sparse_coo(const Tensor& indices, const Tensor& values, const Dims& sizes);
// The least sizes that hold the indices.
Tensor sparse_coo(const Tensor& indices, const Tensor& values);
// With the caller's word for it that all is right.
Tensor sparse_coo_unchecked(Tensor indices, Tensor values, const Dims& sizes, bool coalesced);
Tensor empty_sparse(const Dims& sizes, TensorOptions options, std::int64_t sparse_dim);  // no entries

Tensor coalesce(const Tensor& sparse);  // itself if it is
Tensor to_dense(const Tensor& sparse);
// The elements of a dense tensor where `like` has entries, as a sparse one with the same indices.
Tensor sparse_mask(const Tensor& dense, const Tensor& like);
// The entries whose index in a sparse dimension is that, without the dimension. Other than views it has bytes of its
// own. Waits for the device.
Tensor select_sparse(const Tensor& sparse, std::int64_t dim, std::int64_t index);

}  // namespace plain
}  // namespace distrun::tensor

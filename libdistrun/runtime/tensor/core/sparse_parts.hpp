#pragma once
// Sparse COO tensors: `indices` int64 [sparse_dim, nnz], `values` [nnz, dense sizes...]. Coalesced: indices are sorted
// and each occurs once.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// Indices and values of a tensor and of its detached aliases. In-place operators replace them.
class SparseParts final : public Counted {
 public:
  // Takes both tensors as they are.
  SparseParts(Tensor indices_, Tensor values_, bool coalesced_)
      : indices(std::move(indices_)), values(std::move(values_)), coalesced(coalesced_) {}

  // Includes all in-place changes to the bytes of indices and values.
  std::uint32_t version() const noexcept { return changes_ + indices.version() + values.version(); }
  void bump_version() noexcept { ++changes_; }  // Counts a change of the parts.
  // Takes the parts of a result of the same dtype; counts as one change.
  void replace(const SparseParts& result);

  Tensor indices;  // int64 [sparse_dim, nnz]
  Tensor values;   // [nnz, dense sizes...]
  bool coalesced;  // sorted, and each index once

 private:
  std::atomic<std::uint32_t> changes_{0};  // without changes to the bytes
};

// A sparse tensor.
class SparseImpl final : public TensorImpl {
 public:
  SparseImpl(Ref<SparseParts> shared, Dims sizes);  // Device and dtype are those of the values.

  // These do what TensorImpl says, for indices and values.
  std::uint32_t version() const noexcept override { return parts->version(); }
  void bump_version() const noexcept override { parts->bump_version(); }
  void record_stream(Stream stream) const override;
  bool is_used_only_by(Stream stream) const override;

  const Ref<SparseParts> parts;  // shared with detached aliases
};

const SparseParts& sparse(const Tensor& tensor);  // throws Error{InvalidArgument} for a dense one
std::int64_t nnz(const Tensor& sparse);           // stored entries
std::int64_t sparse_dim(const Tensor& sparse);    // dimensions that the indices name
bool is_coalesced(const Tensor& sparse);          // sorted, and each index once

namespace plain {

// The caller guarantees that the arguments are valid.
Tensor sparse_coo_unchecked(Tensor indices, Tensor values, const Dims& sizes, bool coalesced);
Tensor empty_sparse(const Dims& sizes, TensorOptions options, std::int64_t sparse_dim);  // no entries

}  // namespace plain
}  // namespace distrun::tensor

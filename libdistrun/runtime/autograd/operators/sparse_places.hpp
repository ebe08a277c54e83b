#pragma once
// Parts of gradients of sparse tensors: where entries are, and what gradients have there. They are not recorded.
#include <distrun/runtime/autograd/saved_tensor.hpp>

namespace distrun::autograd {

inline constexpr char kNotOfSparse[] = "of sparse tensors: use dense ones there";

// Where a sparse tensor has entries, for a formula that does not need the values: they may change meanwhile.
class SavedPlaces {
 public:
  explicit SavedPlaces(const Tensor& sparse);

  // A sparse tensor of bool that has entries there, and no dense dimensions. Throws as SavedTensor does, if the indices
  // were changed.
  Tensor unpack(const Node& owner) const;
  void release() noexcept { indices_.release(); }

 private:
  SavedTensor indices_;
  Dims sizes_;  // of the sparse dimensions
  bool is_coalesced_;
};

// [n, ...]: what a tensor has at each of n places. Of a sparse one it waits for the device.
Tensor values_at(const Tensor& tensor, const Tensor& places);

// A sparse tensor of what a dense one has at the places, each of them once.
Tensor entries_at(const Tensor& dense, const Tensor& places);

// select() of a sparse tensor, recorded.
Tensor select_sparse(const Tensor& sparse, std::int64_t dim, std::int64_t index);

}  // namespace distrun::autograd

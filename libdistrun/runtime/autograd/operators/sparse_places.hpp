#pragma once
// Parts of gradients of sparse tensors: the places of entries, and the gradients' values there. They are not recorded.
#include <distrun/runtime/autograd/saved_tensor.hpp>

namespace distrun::autograd {

inline constexpr char kNotOfSparse[] = "of sparse tensors; use dense tensors";

// Keeps the places of a sparse tensor's entries, for a formula that does not need the values: those may change
// meanwhile.
class SavedPlaces {
 public:
  explicit SavedPlaces(const Tensor& sparse);

  // Returns a sparse tensor of bool with entries at these places, and no dense dimensions. Throws as SavedTensor does
  // if the indices were changed.
  Tensor unpack(const Node& owner) const;
  void release() noexcept { indices_.release(); }

 private:
  SavedTensor indices_;
  Dims sizes_;  // of the sparse dimensions
  bool is_coalesced_;
};

// Returns [n, ...]: a tensor's values at n places. Waits for the device if the tensor is sparse.
Tensor values_at(const Tensor& tensor, const Tensor& places);

// Returns a sparse tensor with the values of a dense one at the places, each of them once.
Tensor entries_at(const Tensor& dense, const Tensor& places);

// Runs select() on a sparse tensor, recorded.
Tensor select_sparse(const Tensor& sparse, std::int64_t dim, std::int64_t index);

}  // namespace distrun::autograd

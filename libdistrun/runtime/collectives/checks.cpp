#include <distrun/runtime/collectives/checks.hpp>

#include <numeric>
#include <string>

#include <distrun/common/base/error.hpp>

namespace distrun::collectives {
namespace {

std::string sizes_of(const Tensor& tensor) { return to_string(ShownSizes(tensor.sizes())); }

}  // namespace

void Checks::refuse(const std::string& why) const {
  throw Error(ErrorKind::InvalidArgument, "ValueError", std::string(name_of(kind_)) + ": " + why, site_);
}

void Checks::root(int place) const {
  if (place >= 0 && place < group_.size()) return;
  refuse("invalid root rank: " + std::to_string(place) + " (group " + group_.name + " has " +
         std::to_string(group_.size()) + ")");
}

void Checks::peer(int place) const {
  if (place >= 0 && place < group_.size()) return;
  refuse("invalid rank: " + std::to_string(place) + " (group " + group_.name + " has " + std::to_string(group_.size()) +
         ")");
}

void Checks::dense(const Tensor& tensor) const {
  if (!tensor.defined()) refuse("the tensor is undefined");
  if (tensor.is_sparse()) refuse("only supports dense tensors");
}

void Checks::same_dtype(const Tensor& tensor, DType dtype, std::size_t index) const {
  dense(tensor);
  if (tensor.dtype() == dtype) return;
  refuse("invalid tensor type at index " + std::to_string(index) + " (expected " + std::string(name_of(dtype)) +
         ", got " + std::string(name_of(tensor.dtype())) + ")");
}

void Checks::elements(const Tensor& tensor, std::int64_t count, std::size_t index) const {
  if (tensor.numel() == count) return;
  refuse("invalid tensor size at index " + std::to_string(index) + " (expected " + std::to_string(count) +
         " elements, got " + sizes_of(tensor) + ")");
}

void Checks::one_for_each(const char* what, const TensorList& list, const Tensor& like) const {
  if (list.size() != static_cast<std::size_t>(group_.size())) {
    refuse("incorrect " + std::string(what) + " list size " + std::to_string(list.size()) + ": it should be " +
           std::to_string(group_.size()) + ", the size of the group");
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    same_dtype(list[i], like.dtype(), i);
    elements(list[i], like.numel(), i);
  }
}

std::vector<std::int64_t> Checks::splits(const char* what, const Tensor& tensor,
                                         std::vector<std::int64_t> sizes) const {
  dense(tensor);
  const std::int64_t whole = tensor.dim() == 0 ? 1 : tensor.size(0);
  const std::int64_t ranks = group_.size();
  if (sizes.empty()) {
    if (whole % ranks != 0) refuse("Tensor's dim 0 does not divide equally across group size");
    return std::vector<std::int64_t>(static_cast<std::size_t>(ranks), whole / ranks);
  }
  if (sizes.size() != static_cast<std::size_t>(ranks)) {
    refuse("Number of tensor splits not equal to group size (" + std::string(what) + ": " +
           std::to_string(sizes.size()) + " and " + std::to_string(ranks) + ")");
  }
  for (const std::int64_t size : sizes) {
    if (size < 0) refuse("a split size is negative: " + std::to_string(size));
  }
  if (std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) != whole) {
    refuse("Split sizes doesn't match total dim 0 size (" + std::string(what) + " " + sizes_of(tensor) + ")");
  }
  return sizes;
}

}  // namespace distrun::collectives

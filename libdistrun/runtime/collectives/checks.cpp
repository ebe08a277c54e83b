#include <distrun/runtime/collectives/checks.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/device/overlap.hpp>
#include <distrun/runtime/tensor/core/pointwise.hpp>

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

void Checks::output(const Tensor& tensor) const {
  dense(tensor);
  if (!tensor.is_contiguous()) tensor::check_writable(std::string(name_of(kind_)).c_str(), tensor);
}

void Checks::same_dtype(const Tensor& tensor, DType dtype, std::size_t index) const {
  dense(tensor);
  if (tensor.dtype() == dtype) return;
  refuse("invalid tensor type at index " + std::to_string(index) + " (expected " + std::string(name_of(dtype)) +
         ", got " + std::string(name_of(tensor.dtype())) + ")");
}

namespace {

constexpr char kShareMemory[] = " share memory; give each result separate memory, for example with clone()";

constexpr std::size_t kFew = 17;  // outputs and inputs of small groups, which need no heap memory

device::Lattice lattice_of(const Checks::Extent& extent) {
  device::Region region;
  region.begin = const_cast<std::byte*>(extent.begin);
  region.sizes = device::Dims{extent.end - extent.begin};
  region.strides = device::Dims{1};
  if (extent.tensor != nullptr) {
    const tensor::StridedImpl& tensor = extent.tensor->strided();
    region = {tensor.data, tensor::size_of(tensor.dtype), tensor.sizes, tensor.strides, device::Access::Read};
  }
  return *device::lattice_of(region);  // an extent has elements
}

// Returns the end of the written extents. Tensors without elements have none.
Checks::Extent* write_extents(Checks::Extent* to, std::span<const Tensor> tensors, bool are_outputs) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& each = tensors[i];
    if (each.numel() == 0) continue;
    const std::byte* const begin = each.strided().data;
    const std::size_t bytes = static_cast<std::size_t>(each.numel()) * tensor::size_of(each.dtype());
    *to = {begin, begin + bytes, i, are_outputs, false, each.is_contiguous() ? nullptr : &each};
    if (to->tensor != nullptr) {
      const device::Lattice lattice = lattice_of(*to);
      to->begin = reinterpret_cast<const std::byte*>(lattice.begin);  // NOLINT(performance-no-int-to-ptr)
      to->end = reinterpret_cast<const std::byte*>(lattice.end);      // NOLINT(performance-no-int-to-ptr)
    }
    ++to;
  }
  return to;
}

std::string text_of(const Checks::Extent& extent) {
  return (extent.is_output ? "output " : "input ") + std::to_string(extent.index);
}

}  // namespace

void Checks::apart(std::span<const Tensor> outputs, std::span<const Tensor> inputs) const {
  for (const Tensor& each : outputs) output(each);
  const std::size_t count = outputs.size() + inputs.size();
  if (count < 2) return;
  std::array<Extent, kFew> few;
  std::vector<Extent> many(count > kFew ? count : 0);
  Extent* const begin = count > kFew ? many.data() : few.data();
  Extent* const end = write_extents(write_extents(begin, outputs, true), inputs, false);
  const std::span<Extent> all(begin, end);
  const auto own = static_cast<std::size_t>(group_.rank);
  for (Extent& each : all) each.is_own = each.index == own || (each.is_output ? outputs : inputs).size() == 1;
  const auto is_strided = [](const Extent& each) { return each.tensor != nullptr; };
  std::any_of(all.begin(), all.end(), is_strided) ? apart_exactly(all) : apart(all);
}

// Each pair: strided tensors may be between each other.
void Checks::apart_exactly(std::span<const Extent> all) const {
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) check_pair(all[k], all[i]);
  }
}

void Checks::check_pair(const Extent& a, const Extent& b) const {
  if (a.end <= b.begin || b.end <= a.begin || (!a.is_output && !b.is_output)) return;
  const device::Lattice one = lattice_of(a), other = lattice_of(b);
  const bool may_be_same = a.is_output != b.is_output && a.is_own && b.is_own;
  if ((may_be_same && one == other) || !device::overlap(one, other)) return;
  refuse(text_of(a) + " and " + text_of(b) + kShareMemory);
}

void Checks::apart_or_own_piece(const Tensor& output, const Tensor& input) const {
  this->output(output);
  // Tensors that are not contiguous are copied: the input is read before the output is written.
  if (input.numel() == 0 || !input.is_contiguous() || !output.is_contiguous()) return;
  const auto bytes = static_cast<std::size_t>(input.numel()) * tensor::size_of(input.dtype());
  const std::byte *const all = output.strided().data, *const in = input.strided().data;
  const std::byte* const own = all + static_cast<std::size_t>(group_.rank) * bytes;
  const bool overlaps = in < all + static_cast<std::size_t>(group_.size()) * bytes && all < in + bytes;
  if (overlaps && in != own) refuse("the output and the input" + std::string(kShareMemory));
}

// Sorts by start address: an extent that starts before the end of an earlier one shares memory with it.
void Checks::apart(std::span<Extent> all) const {
  std::sort(all.begin(), all.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  const Extent* last[2] = {nullptr, nullptr};  // the input and the output that reach furthest
  for (const Extent& each : all) {
    for (const Extent* const before : last) {
      if (before == nullptr || before->end <= each.begin || (!before->is_output && !each.is_output)) continue;
      const bool is_same = before->begin == each.begin && before->end == each.end;
      if (before->is_output != each.is_output && is_same && before->is_own && each.is_own) continue;
      refuse(text_of(*before) + " and " + text_of(each) + kShareMemory);
    }
    const Extent*& furthest = last[each.is_output ? 1 : 0];
    if (furthest == nullptr || each.end > furthest->end) furthest = &each;
  }
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

#include <distrun/runtime/tensor/core/tensor.hpp>

#include <algorithm>
#include <new>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/core/called_operator.hpp>

namespace distrun::tensor {
namespace {

// Strides of dimensions with one element, or of an empty tensor, are ignored.
bool is_dense(const Dims& sizes, const Dims& strides, std::int64_t numel) noexcept {
  std::int64_t expected = 1;
  for (std::size_t i = sizes.size(); numel != 0 && i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

// Counts elements, one size after the other. The product of all non-zero sizes must fit an std::int64_t, so that every
// partial product fits too, also for an empty tensor.
struct ElementCount {
  std::int64_t product = 1;
  bool is_sound = true, is_empty = false;

  void add(std::int64_t size) noexcept {
    is_empty |= size == 0;
    is_sound &= size >= 0;
    if (size > 1 && __builtin_mul_overflow(product, size, &product)) is_sound = false;
  }
  std::int64_t numel(const Dims& sizes) const {
    if (is_sound) return is_empty ? 0 : product;
    const bool is_negative = std::any_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size < 0; });
    refuse("no tensor can have sizes " + to_string(sizes) +
           (is_negative ? ": one is below 0" : ": they have more elements than can be counted"));
  }
};

std::int64_t numel_of(const Dims& sizes) {
  ElementCount count;
  for (const std::int64_t size : sizes) count.add(size);
  return count.numel(sizes);
}

// The strides of size-1 dimensions are never followed, but are still converted to bytes.
bool are_countable(const Dims& strides) noexcept {
  constexpr std::int64_t kMost = std::int64_t{1} << 56;
  return std::all_of(strides.begin(), strides.end(),
                     [](std::int64_t stride) { return stride >= -kMost && stride <= kMost; });
}

// Returns the address of the element at the offset. The whole block must lie in the storage for any numbers, since
// views are also built from what another rank sent. The offset of an empty tensor is ignored.
std::byte* address_in(const Storage& storage, const TensorImpl& tensor, const Dims& strides, std::int64_t offset) {
  const auto element_bytes = static_cast<std::int64_t>(size_of(tensor.dtype));
  const std::int64_t elements = static_cast<std::int64_t>(storage.bytes()) / element_bytes;
  if (tensor.numel == 0 && offset >= 0 && strides.size() == tensor.sizes.size()) return storage.data();
  const device::Reach reach = device::reach_of(tensor.sizes, strides, offset);
  const bool is_inside = reach.is_valid && reach.first >= 0 && reach.last < elements;
  if (is_inside && are_countable(strides)) return storage.data() + offset * element_bytes;
  throw Error(ErrorKind::InvalidArgument, "as_strided: sizes " + to_string(tensor.sizes) + ", strides " +
                                              to_string(strides) + " and offset " + std::to_string(offset) +
                                              " reach beyond a storage of " + std::to_string(elements) + " " +
                                              std::string(name_of(tensor.dtype)) + " elements");
}

}  // namespace

TensorImpl::TensorImpl(Layout layout_, DType dtype_, Device device_, Dims sizes_, std::int64_t numel_)
    : layout(layout_), dtype(dtype_), device(device_), sizes(std::move(sizes_)), numel(numel_) {}

Shape::Shape(const Dims& sizes_) : sizes(sizes_), strides(sizes_) {
  ElementCount count;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = count.product;
    count.add(sizes[i]);
  }
  numel = count.numel(sizes);
}

StridedImpl::StridedImpl(Ref<Storage> storage, DType dtype_, Dims sizes_, Dims strides_, std::int64_t offset_)
    : TensorImpl(Layout::Strided, dtype_, storage->device(), sizes_, numel_of(sizes_)),
      strides(std::move(strides_)),
      offset(offset_),
      data(address_in(*storage, *this, strides, offset_)),
      contiguous(is_dense(sizes, strides, numel)),
      storage_(std::move(storage)),
      in_storage_(false) {}

StridedImpl::StridedImpl(Ref<Storage> storage, DType dtype_, Shape shape, bool in_storage)
    : TensorImpl(Layout::Strided, dtype_, storage->device(), std::move(shape.sizes), shape.numel),
      strides(std::move(shape.strides)),
      offset(0),
      data(storage->data()),
      contiguous(true),
      storage_(std::move(storage)),
      in_storage_(in_storage) {}

Ref<StridedImpl> StridedImpl::make_small(DType dtype, Shape shape, std::size_t bytes) {
  Ref<Storage> storage = Storage::make_small(bytes, sizeof(StridedImpl));
  void* room = storage->room();
  return Ref<StridedImpl>::first(new (room) StridedImpl(std::move(storage), dtype, std::move(shape), true));
}

void StridedImpl::let_go() noexcept {
  if (!in_storage_) {
    delete this;
    return;
  }
  const Ref<Storage> storage = std::move(storage_);  // views may share it; the last owner frees the block
  this->~StridedImpl();
}

std::int64_t Tensor::size(std::int64_t dim) const {
  if (!defined()) refuse("size", "a tensor is required, but this one is undefined", {});
  const Dims& sizes = impl_->sizes;
  if (sizes.empty()) refuse("size", "a tensor without dimensions has no dimension " + std::to_string(dim), {this});
  return sizes[wrap_dim("size", dim, sizes.size())];
}

void Tensor::bump_version() const {
  if (!defined()) refuse("bump_version", "a tensor is required, but this one is undefined", {});
  impl_->bump_version();
}

void Tensor::refuse_strided() const {
  refuse(defined() ? "a strided tensor is required, but this one is " + describe(*this)
                   : "a tensor is required, but this one is undefined");
}

void Tensor::refuse_undefined() { tensor::refuse("a tensor is required, but this one is undefined"); }

void Tensor::refuse_item(const Scalar& number, const char* type, std::size_t bits) {
  tensor::refuse("item",
                 to_string(number) + " cannot be converted to " + type + std::to_string(bits) +
                     " without overflow; item() returns it unchanged",
                 {});
}

void Tensor::refuse_dtype(DType wanted) const {
  refuse("elements of " + describe(*this) + " cannot be viewed as " + std::string(name_of(wanted)));
}

std::string describe(const Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  std::string text = tensor.is_sparse() ? "sparse " : "";
  text += std::string(name_of(tensor.dtype())) + " " + to_string(tensor.sizes());
  if (!tensor.device().is_cpu()) text += " on " + to_string(tensor.device());
  return text;
}

void refuse(const char* op, const std::string& what, std::initializer_list<const Tensor*> tensors) {
  std::string operands;
  for (const Tensor* tensor : tensors) operands += (operands.empty() ? "" : " and ") + describe(*tensor);
  throw Error(ErrorKind::InvalidArgument, with_name(op, what + (operands.empty() ? "" : " (" + operands + ")")));
}

std::size_t wrap_dim(const char* op, std::int64_t dim, std::size_t rank) {
  const auto count = std::max<std::int64_t>(static_cast<std::int64_t>(rank), 1);
  if (dim < -count || dim >= count) {
    refuse(op,
           "dimension out of range (expected to be in range of [" + std::to_string(-count) + ", " +
               std::to_string(count - 1) + "], but got " + std::to_string(dim) + ")",
           {});
  }
  return static_cast<std::size_t>(dim < 0 ? dim + count : dim);
}

}  // namespace distrun::tensor

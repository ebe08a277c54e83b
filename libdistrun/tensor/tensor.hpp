#pragma once
// Tensors. A Tensor is a handle: copies are the same tensor, as two names of one. Sizes, strides and dtype of a tensor
// never change; its elements, its gradient and its place in a graph may. Empty handles ("undefined") stand for "no
// tensor", as gradients that are not needed.
//
// What operators there are: ops.hpp (plain, nothing is recorded) and, for users, <distrun/autograd/ops.hpp>. Not
// thread-safe: two threads may read one tensor, not change it.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <distrun/device/dims.hpp>
#include <distrun/tensor/dtype.hpp>
#include <distrun/tensor/scalar.hpp>
#include <distrun/tensor/storage.hpp>

namespace distrun::tensor {

using device::Dims;

enum class Layout : std::uint8_t { Strided, Sparse };  // Sparse: COO, sparse.hpp

class Tensor;

// What autograd keeps of a tensor; its own file is autograd/variable.hpp. Owned by the tensor.
class GradientInfo {
 public:
  virtual ~GradientInfo() = default;
};

// Counts the in-place changes of a tensor and its views; they share it, whoever detaches from them too.
class Version final : public Counted {
 public:
  std::uint32_t current() const noexcept { return value_.load(std::memory_order_acquire); }
  void bump() noexcept { value_.fetch_add(1, std::memory_order_acq_rel); }

 private:
  std::atomic<std::uint32_t> value_{0};
};

// What handles share. Immovable.
class TensorImpl : public Counted {
 public:
  TensorImpl(Layout layout, DType dtype, Device device, Dims sizes);

  const Layout layout;
  const DType dtype;
  const Device device;
  const Dims sizes;
  const std::int64_t numel;
  Ref<Version> version;                    // made by the first view or the first in-place change; shared by views
  std::unique_ptr<GradientInfo> gradient;  // none: it needs no gradient and nothing was asked
};

class StridedImpl final : public TensorImpl {
 public:
  StridedImpl(Ref<Storage> storage, DType dtype, Dims sizes, Dims strides, std::int64_t offset);

  const Ref<Storage> storage;
  const Dims strides;         // in elements
  const std::int64_t offset;  // in elements
  const bool contiguous;
};

class Tensor {
 public:
  Tensor() noexcept = default;  // undefined
  explicit Tensor(Ref<TensorImpl> impl) noexcept : impl_(std::move(impl)) {}

  bool defined() const noexcept { return static_cast<bool>(impl_); }
  bool is_same(const Tensor& other) const noexcept { return impl_ == other.impl_; }
  TensorImpl* impl() const noexcept { return impl_.get(); }
  const StridedImpl& strided() const;  // throws Error{InvalidArgument} for a sparse or undefined one

  DType dtype() const { return impl_->dtype; }
  Device device() const { return impl_->device; }
  Layout layout() const { return impl_->layout; }
  bool is_sparse() const { return impl_->layout == Layout::Sparse; }
  std::int64_t dim() const { return static_cast<std::int64_t>(impl_->sizes.size()); }
  const Dims& sizes() const { return impl_->sizes; }
  std::int64_t size(std::int64_t dim) const;  // -1: the last
  const Dims& strides() const { return strided().strides; }
  std::int64_t numel() const { return impl_->numel; }
  bool is_contiguous() const { return strided().contiguous; }

  // Of the first element. On a GPU it is an address of the device, of no use to host code.
  std::byte* data() const;
  template <class T>
  T* data_as() const;  // throws Error{InvalidArgument} if the dtype is another

  // The one element, in whatever dtype; waits for the device. Throws Error{InvalidArgument} unless numel() is 1.
  Scalar item() const;
  template <class T>
  T item_as() const {
    return item().to<T>();
  }

  std::uint32_t version() const;  // in-place changes so far
  void bump_version() const;
  void record_stream(Stream stream) const;

 private:
  Ref<TensorImpl> impl_;
};

using TensorList = std::vector<Tensor>;

struct TensorOptions {
  DType dtype = DType::F32;
  Device device = device::kCpu;
};

// Elements not set.
Tensor empty(const Dims& sizes, TensorOptions options = {});
// A view: another shape of the same bytes. It shares the version. Throws if it reaches beyond the storage.
Tensor as_strided(const Tensor& base, Dims sizes, Dims strides, std::int64_t offset);
// A tensor with the same bytes, version and shape and no gradient: detach().
Tensor alias(const Tensor& tensor);

}  // namespace distrun::tensor

namespace distrun {
using tensor::Dims;
using tensor::Tensor;
using tensor::TensorList;
using tensor::TensorOptions;
}  // namespace distrun

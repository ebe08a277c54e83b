#pragma once
// Tensors. A Tensor is a handle; copies of it refer to the same tensor. Sizes, strides and dtype of a tensor never
// change; its elements, gradient and graph node may. An empty handle ("undefined") means "no tensor", as for a gradient
// that is not needed.
//
// Operators are listed in ops.hpp (plain, not recorded) and, for users, in runtime/autograd/operators/all.hpp. Not
// thread-safe: two threads may read one tensor and create views of it, but not change it.
//
// The plain operators live in the namespace tensor::plain, which tensor uses. So `tensor::add(a, b)` names one, but an
// unqualified `add(a, b)` does not find it through its arguments: for users that is the recorded operator.
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runtime/device/dims.hpp>
#include <distrun/runtime/tensor/core/dtype.hpp>
#include <distrun/runtime/tensor/core/methods.hpp>
#include <distrun/runtime/tensor/core/scalar.hpp>
#include <distrun/runtime/tensor/core/storage.hpp>

namespace distrun::tensor {

namespace plain {}
using namespace plain;

enum class Layout : std::uint8_t { Strided, Sparse };  // Sparse: COO, sparse.hpp

// Autograd's data of a tensor, defined in runtime/autograd/variable.hpp. Owned by the tensor.
class GradientInfo {
 public:
  virtual ~GradientInfo() = default;
  // Returns an addition to the tensor's text: "requires_grad=true", "grad_fn=<MulBackward0>"; empty for none.
  virtual std::string shown_of(const Tensor& tensor) const = 0;
};

// The object shared by handles. Immovable.
class TensorImpl : public Counted {
 public:
  // `numel` is the product of the sizes.
  TensorImpl(Layout layout, DType dtype, Device device, Dims sizes, std::int64_t numel);

  const Layout layout;                     // how the elements are stored
  const DType dtype;                       // of every element
  const Device device;                     // of the elements
  const Dims sizes;                        // empty: one element without dimensions
  const std::int64_t numel;                // the product of the sizes
  std::unique_ptr<GradientInfo> gradient;  // null: needs no gradient, and none was requested

  // These do what Tensor says.
  virtual std::uint32_t version() const noexcept = 0;
  virtual void bump_version() const noexcept = 0;
  virtual void record_stream(Stream stream) const = 0;
  // Returns whether all recorded work on its bytes is on that stream.
  virtual bool is_used_only_by(Stream stream) const = 0;
};

// Sizes, with the strides and the count of a contiguous block.
struct Shape {
  // Throws Error{InvalidArgument} for a negative size, or more elements than an std::int64_t can count.
  explicit Shape(const Dims& sizes);

  Dims sizes;              // of the tensor
  Dims strides;            // in elements
  std::int64_t numel = 1;  // the product of the sizes
};

// A dense tensor: elements at regular distances in a storage.
class StridedImpl final : public TensorImpl {
 public:
  // Throws Error{InvalidArgument} if it reaches beyond the storage.
  StridedImpl(Ref<Storage> storage, DType dtype, Dims sizes, Dims strides, std::int64_t offset);
  // Contiguous.
  StridedImpl(Ref<Storage> storage, DType dtype, Shape shape, bool in_storage = false);
  // Creates a CPU tensor in the room() beside the bytes of a small storage: one allocation for all.
  static Ref<StridedImpl> make_small(DType dtype, Shape shape, std::size_t bytes);

  // The bytes, which views share.
  const Ref<Storage>& storage() const noexcept { return storage_; }
  // These do what TensorImpl says, for the storage.
  std::uint32_t version() const noexcept override { return storage_->version(); }
  void bump_version() const noexcept override { storage_->bump_version(); }
  void record_stream(Stream stream) const override { storage_->record_stream(stream); }
  bool is_used_only_by(Stream stream) const override { return storage_->is_used_only_by(stream); }

  const Dims strides;         // in elements
  const std::int64_t offset;  // in elements
  std::byte* const data;      // at the offset
  const bool contiguous;      // row by row, without gaps

 private:
  void let_go() noexcept override;

  Ref<Storage> storage_;
  const bool in_storage_;  // allocated in its storage's block
};

struct TensorOptions;

// A handle to a tensor; what is said at the top of this header applies. Its methods are in TensorMethods.
class Tensor : public TensorMethods {
 public:
  Tensor() noexcept = default;  // undefined
  explicit Tensor(Ref<TensorImpl> impl) noexcept : impl_(std::move(impl)) {}
  Tensor(const Tensor&) noexcept = default;
  Tensor(Tensor&&) noexcept = default;

  // Assigning to a named tensor makes it refer to the other tensor.
  Tensor& operator=(const Tensor&) & noexcept = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  // Assigning to a temporary writes its elements, like copy_() and fill_(): x[0] = y. (Defined with the methods.)
  void operator=(const Tensor& from) &&;
  void operator=(const Scalar& value) &&;

  bool defined() const noexcept { return static_cast<bool>(impl_); }  // refers to a tensor
  // refers to the same tensor, not to equal elements
  bool is_same(const Tensor& other) const noexcept { return impl_ == other.impl_; }
  TensorImpl* impl() const noexcept { return impl_.get(); }                            // null if undefined
  std::uint32_t use_count() const noexcept { return impl_ ? impl_->use_count() : 0; }  // handles
  // Throws Error{InvalidArgument} for a sparse or undefined tensor.
  const StridedImpl& strided() const {
    if (!impl_ || impl_->layout != Layout::Strided) [[unlikely]]
      refuse_strided();
    return static_cast<const StridedImpl&>(*impl_);
  }

  // These throw Error{InvalidArgument} for an undefined tensor.
  DType dtype() const { return there().dtype; }                                         // of every element
  Device device() const { return there().device; }                                      // where the elements are
  Layout layout() const { return there().layout; }                                      // Strided or Sparse
  bool is_sparse() const { return there().layout == Layout::Sparse; }                   // layout() is Sparse
  std::int64_t dim() const { return static_cast<std::int64_t>(there().sizes.size()); }  // number of dimensions
  const Dims& sizes() const { return there().sizes; }                                   // one for each dimension
  std::int64_t size(std::int64_t dim) const;                                            // -1: the last
  std::int64_t numel() const { return there().numel; }                                  // the product of the sizes
  TensorOptions options() const;                                                        // dtype and device

  // These throw Error{InvalidArgument} for a sparse or undefined tensor.
  const Dims& strides() const { return strided().strides; }    // in elements
  bool is_contiguous() const { return strided().contiguous; }  // row by row, without gaps
  // Returns the address of the first element. On a GPU it is a device address that host code cannot use.
  std::byte* data() const { return strided().data; }
  // Returns the address of the first element as a T*. Throws Error{InvalidArgument} if T is not of the tensor's dtype.
  template <class T>
  T* data_as() const {
    if (strided().dtype != dtype_of<T>) [[unlikely]]
      refuse_dtype(dtype_of<T>);
    return reinterpret_cast<T*>(data());
  }

  // Returns the single element in the tensor's dtype; waits for the device. Throws Error{InvalidArgument} unless
  // numel() is 1.
  Scalar item() const;  // in copy.cpp
  // Converts the element as C++ does.
  template <class T>
  T item_as() const {
    return item().to<T>();
  }
  // Throws Error{InvalidArgument} for a number that T cannot approximate: 300 as an std::uint8_t, 1e300 as a float.
  template <class T>
  T item() const {
    const Scalar number = item();
    if (!can_be<T>(number)) [[unlikely]]
      refuse_item(number, std::is_floating_point_v<T> ? "float" : std::is_signed_v<T> ? "int" : "uint", 8 * sizeof(T));
    return number.to<T>();
  }

  // Counts in-place changes so far, of this tensor and of all that share its bytes.
  std::uint32_t version() const { return there().version(); }
  // Counts an in-place change that no operator has made. Throws Error{InvalidArgument} for an undefined tensor.
  void bump_version() const;
  // Keeps the bytes from being reused before the present work of that stream is done: for use on another stream than
  // the current one of their creation.
  void record_stream(Stream stream) const { there().record_stream(stream); }

 private:
  const TensorImpl& there() const {
    if (!impl_) [[unlikely]]
      refuse_undefined();
    return *impl_;
  }
  [[noreturn]] static void refuse_undefined();
  [[noreturn]] static void refuse_item(const Scalar& number, const char* type, std::size_t bits);
  [[noreturn]] void refuse_strided() const;
  [[noreturn]] void refuse_dtype(DType wanted) const;

  Ref<TensorImpl> impl_;
};

template <Integer Int>
Tensor TensorMethods::sum(Int dim, bool keep_dim) const {
  return sum(Dims{static_cast<std::int64_t>(dim)}, keep_dim);
}
template <Integer Int>
Tensor TensorMethods::mean(Int dim, bool keep_dim) const {
  return mean(Dims{static_cast<std::int64_t>(dim)}, keep_dim);
}
template <std::same_as<bool> Bool>
Tensor TensorMethods::var(Bool unbiased) const {
  return var(Dims{}, unbiased);
}
template <Integer Int>
Tensor TensorMethods::var(Int dim, bool unbiased, bool keep_dim) const {
  return var(Dims{static_cast<std::int64_t>(dim)}, unbiased, keep_dim);
}

// The dtype and device of a tensor that is created.
struct TensorOptions {
  DType dtype = DType::F32;      // of every element
  Device device = device::kCpu;  // a GPU must exist
};

// A single option instead of TensorOptions: ones({2}, F64).
template <class T>
concept OneOption = std::same_as<T, DType> || std::same_as<T, Device>;
// Returns the options with the others at their defaults.
inline TensorOptions options_of(DType dtype) noexcept { return {dtype, device::kCpu}; }
inline TensorOptions options_of(Device device) noexcept { return {DType::F32, device}; }

inline TensorOptions Tensor::options() const { return {dtype(), device()}; }

// Returns "float32 [2, 3]" for error texts, with the device if it is a GPU, and "sparse" if it is.
std::string describe(const Tensor& tensor);
// Throws Error{InvalidArgument}: "op: what (float32 [2, 3] and int64 [4])". Uses the name of the called operator if one
// is running (called_operator.hpp).
[[noreturn]] void refuse(const char* op, const std::string& what, std::initializer_list<const Tensor*> tensors);

// Maps -rank .. rank - 1 to 0 .. rank - 1. A tensor without dimensions counts as rank 1. Throws Error{InvalidArgument}.
std::size_t wrap_dim(const char* op, std::int64_t dim, std::size_t rank);
// Prints the whole tensor: print.hpp.
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace distrun::tensor

namespace distrun {
using tensor::Dims;
using tensor::Tensor;
using tensor::TensorList;
using tensor::TensorOptions;
}  // namespace distrun

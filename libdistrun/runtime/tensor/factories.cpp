#include <distrun/runtime/tensor/factories.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/copy.hpp>
#include <distrun/runtime/tensor/launch.hpp>
#include <distrun/runtime/tensor/pointwise.hpp>
#include <distrun/runtime/tensor/shape.hpp>
#include <distrun/runtime/tensor/sparse.hpp>

namespace distrun::tensor::plain {
namespace {

// Up to so many bytes a tensor of the CPU is one allocation with its bytes; malloc is at its best there.
constexpr std::size_t kSmall = 512;

std::size_t bytes_of(std::int64_t numel, DType dtype) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(numel), size_of(dtype), &bytes)) {
    throw Error(ErrorKind::InvalidArgument, "a tensor of " + std::to_string(numel) + " " + std::string(name_of(dtype)) +
                                                " elements has too many bytes");
  }
  return bytes;
}

}  // namespace

Tensor empty(const Dims& sizes, TensorOptions options) {
  Shape shape(sizes);
  const std::size_t bytes = bytes_of(shape.numel, options.dtype);
  if (bytes <= kSmall && options.device.is_cpu()) {
    return Tensor(StridedImpl::make_small(options.dtype, std::move(shape), bytes));
  }
  return Tensor(make_ref<StridedImpl>(Storage::make(options.device, bytes), options.dtype, std::move(shape)));
}

Tensor full(const Dims& sizes, const Scalar& value, TensorOptions options) {
  check_fits("full", value, options.dtype);
  Tensor tensor = empty(sizes, options);
  fill_pointwise(tensor, Constant(value, options.dtype));
  return tensor;
}

Tensor zeros(const Dims& sizes, TensorOptions options) { return full(sizes, 0, options); }
Tensor ones(const Dims& sizes, TensorOptions options) { return full(sizes, 1, options); }

Tensor arange(std::int64_t end, Device device) {
  const Tensor tensor = empty({std::max<std::int64_t>(end, 0)}, {DType::I64, device});
  const std::int64_t count = tensor.numel();
  if (count == 0) return tensor;
  launch("arange", std::array{writes(tensor)}, [count](Addresses data) {
    auto* out = reinterpret_cast<std::int64_t*>(data[0]);
    for (std::int64_t i = 0; i < count; ++i) out[i] = i;
  });
  return tensor;
}

Tensor empty_like(const Tensor& tensor) { return empty(tensor.sizes(), tensor.options()); }
Tensor zeros_like(const Tensor& tensor) {
  return tensor.is_sparse() ? empty_sparse(tensor.sizes(), tensor.options(), sparse_dim(tensor))
                            : zeros(tensor.sizes(), tensor.options());
}
Tensor ones_like(const Tensor& tensor) { return ones(tensor.sizes(), tensor.options()); }
Tensor full_like(const Tensor& tensor, const Scalar& value) { return full(tensor.sizes(), value, tensor.options()); }

Tensor scalar_tensor(const Scalar& value) {
  return scalar_tensor(value, {value.is_floating() ? DType::F32 : value.dtype(), device::kCpu});
}
Tensor scalar_tensor(const Scalar& value, TensorOptions options) { return full({}, value, options); }

Tensor from_data(const void* data, const Dims& sizes, TensorOptions options) {
  const Tensor here = empty(sizes, {options.dtype, device::kCpu});
  if (here.numel() > 0) std::memcpy(here.data(), data, bytes_of(here.numel(), options.dtype));
  return to(here, options.device);
}

template <class T>
Tensor from_values(std::span<const T> values, const Dims& sizes, Device device) {
  if (static_cast<std::int64_t>(values.size()) != device::count_of(sizes)) {
    refuse("from_values", std::to_string(values.size()) + " values do not fill sizes " + to_string(sizes), {});
  }
  return from_data(values.data(), sizes, {dtype_of<T>, device});
}

template <class T>
std::vector<T> to_vector(const Tensor& tensor) {
  const Tensor here = contiguous(to(tensor, device::kCpu));
  const T* elements = here.data_as<T>();
  return std::vector<T>(elements, elements + here.numel());
}

#define DISTRUN_FOR_ELEMENT(T)                                             \
  template Tensor from_values<T>(std::span<const T>, const Dims&, Device); \
  template std::vector<T> to_vector<T>(const Tensor&);
DISTRUN_FOR_ELEMENT(bool)
DISTRUN_FOR_ELEMENT(std::uint8_t)
DISTRUN_FOR_ELEMENT(std::int8_t)
DISTRUN_FOR_ELEMENT(std::int16_t)
DISTRUN_FOR_ELEMENT(std::int32_t)
DISTRUN_FOR_ELEMENT(std::int64_t)
DISTRUN_FOR_ELEMENT(float)
DISTRUN_FOR_ELEMENT(double)
#undef DISTRUN_FOR_ELEMENT

}  // namespace distrun::tensor::plain

#include <distrun/runtime/tensor/core/factories.hpp>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/pointwise.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/sparse_parts.hpp>
#include <distrun/runtime/tensor/core/watch.hpp>

namespace distrun::tensor::plain {
namespace {

Tensor filled(const Dims& sizes, const Scalar& value, TensorOptions options) {
  check_fits("full", value, options.dtype);
  Tensor tensor = empty(sizes, options);
  fill_pointwise(tensor, Constant(value, options.dtype));
  return tensor;
}

}  // namespace

Tensor full(const Dims& sizes, const Scalar& value, TensorOptions options) {
  const MakerScope scope("full");
  return filled(sizes, value, options);
}

Tensor zeros(const Dims& sizes, TensorOptions options) {
  const MakerScope scope("zeros");
  return filled(sizes, 0, options);
}

Tensor ones(const Dims& sizes, TensorOptions options) {
  const MakerScope scope("ones");
  return filled(sizes, 1, options);
}

Tensor arange(std::int64_t end, Device device) {
  const MakerScope scope("arange");
  if (end < 0) refuse("arange", "the end must be 0 or more, but it is " + std::to_string(end), {});
  const Tensor tensor = empty({end}, {DType::I64, device});
  const std::int64_t count = tensor.numel();
  if (count == 0) return tensor;
  launch("arange", std::array{writes(tensor)}, [count](Addresses data) {
    auto* out = reinterpret_cast<std::int64_t*>(data[0]);
    for (std::int64_t i = 0; i < count; ++i) out[i] = i;
  });
  return tensor;
}

Tensor zeros_like(const Tensor& tensor) {
  check_defined("zeros_like", {&tensor});
  const MakerScope scope("zeros_like");
  return tensor.is_sparse() ? empty_sparse(tensor.sizes(), tensor.options(), sparse_dim(tensor))
                            : zeros(tensor.sizes(), tensor.options());
}

Tensor ones_like(const Tensor& tensor) {
  check_defined("ones_like", {&tensor});
  const MakerScope scope("ones_like");
  return filled(tensor.sizes(), 1, tensor.options());
}

Tensor full_like(const Tensor& tensor, const Scalar& value) {
  check_defined("full_like", {&tensor});
  const MakerScope scope("full_like");
  return filled(tensor.sizes(), value, tensor.options());
}

Tensor scalar_tensor(const Scalar& value) {
  return scalar_tensor(value, {value.is_floating() ? DType::F32 : value.dtype(), device::kCpu});
}
Tensor scalar_tensor(const Scalar& value, TensorOptions options) { return filled({}, value, options); }

Tensor from_data(const void* data, const Dims& sizes, TensorOptions options) {
  const Tensor here = empty(sizes, {options.dtype, device::kCpu});
  if (here.numel() > 0 && data == nullptr) {
    refuse("from_data", "there is no data for sizes " + to_string(sizes), {});
  }
  if (here.numel() > 0) std::memcpy(here.data(), data, static_cast<std::size_t>(here.numel()) * size_of(options.dtype));
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

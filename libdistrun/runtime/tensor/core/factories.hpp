#pragma once
// Tensors from nothing, from numbers, and like others.
#include <initializer_list>
#include <span>
#include <vector>

#include <distrun/runtime/tensor/core/empty.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

Tensor full(const Dims& sizes, const Scalar& value, TensorOptions options = {});
template <OneOption Option>
Tensor full(const Dims& sizes, const Scalar& value, Option option) {
  return full(sizes, value, options_of(option));
}
Tensor zeros(const Dims& sizes, TensorOptions options = {});
template <OneOption Option>
Tensor zeros(const Dims& sizes, Option option) {
  return zeros(sizes, options_of(option));
}
Tensor ones(const Dims& sizes, TensorOptions options = {});
template <OneOption Option>
Tensor ones(const Dims& sizes, Option option) {
  return ones(sizes, options_of(option));
}
// 0, 1, .. end - 1 as int64. Throws Error{InvalidArgument} for an end below 0.
Tensor arange(std::int64_t end, Device device = device::kCpu);

// Same sizes, dtype and device, contiguous. zeros_like of a sparse tensor is one without entries; the others densify.
Tensor zeros_like(const Tensor& tensor);
Tensor ones_like(const Tensor& tensor);
Tensor full_like(const Tensor& tensor, const Scalar& value);

// Without dimensions. Bool, int64 or float32, as people expect of true, 3 and 0.5, unless `dtype` says otherwise.
Tensor scalar_tensor(const Scalar& value);
Tensor scalar_tensor(const Scalar& value, TensorOptions options);

// Copies count_of(sizes) elements of the dtype from host memory; returns when `data` may change.
Tensor from_data(const void* data, const Dims& sizes, TensorOptions options = {});
template <OneOption Option>
Tensor from_data(const void* data, const Dims& sizes, Option option) {
  return from_data(data, sizes, options_of(option));
}
// Row by row. Throws Error{InvalidArgument} unless there are as many values as the sizes have elements.
template <class T>
Tensor from_values(std::span<const T> values, const Dims& sizes, Device device = device::kCpu);
template <class T>
Tensor from_values(std::initializer_list<T> values, const Dims& sizes, Device device = device::kCpu) {
  return from_values(std::span<const T>(values.begin(), values.size()), sizes, device);
}
template <class T, std::same_as<Device> OnDevice = Device>
Tensor from_values(std::initializer_list<T> values, OnDevice device = device::kCpu) {
  return from_values(values, Dims{static_cast<std::int64_t>(values.size())}, device);
}
template <class T>
Tensor from_values(const std::vector<T>& values, const Dims& sizes, Device device = device::kCpu) {
  return from_values(std::span<const T>(values), sizes, device);
}
template <class T, std::same_as<Device> OnDevice = Device>
Tensor from_values(const std::vector<T>& values, OnDevice device = device::kCpu) {
  return from_values(values, Dims{static_cast<std::int64_t>(values.size())}, device);
}
// All elements, row by row, in whatever order they lie; waits for the device. Throws Error{InvalidArgument} if the
// dtype is another.
template <class T>
std::vector<T> to_vector(const Tensor& tensor);

}  // namespace distrun::tensor::plain

#pragma once
// Creates tensors from constants, numbers and other tensors.
#include <initializer_list>
#include <span>
#include <vector>

#include <distrun/runtime/tensor/core/empty.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// Returns a contiguous tensor with all elements equal to `value`; float32 on the CPU unless the options say otherwise.
// Throws Error{InvalidArgument} for negative sizes, and for a value that the dtype cannot hold.
Tensor full(const Dims& sizes, const Scalar& value, TensorOptions options = {});
template <OneOption Option>
Tensor full(const Dims& sizes, const Scalar& value, Option option) {
  return full(sizes, value, options_of(option));
}
// full() of 0.
Tensor zeros(const Dims& sizes, TensorOptions options = {});
template <OneOption Option>
Tensor zeros(const Dims& sizes, Option option) {
  return zeros(sizes, options_of(option));
}
// full() of 1.
Tensor ones(const Dims& sizes, TensorOptions options = {});
template <OneOption Option>
Tensor ones(const Dims& sizes, Option option) {
  return ones(sizes, options_of(option));
}
// Returns 0, 1, .. end - 1 as int64. Throws Error{InvalidArgument} for a negative end.
Tensor arange(std::int64_t end, Device device = device::kCpu);

// These return contiguous tensors with the same sizes, dtype and device. For a sparse tensor, zeros_like returns a
// sparse one without entries; the others return dense ones.
Tensor zeros_like(const Tensor& tensor);
Tensor ones_like(const Tensor& tensor);
Tensor full_like(const Tensor& tensor, const Scalar& value);

// Returns a tensor without dimensions: bool, int64 or float32 for numbers like true, 3 and 0.5, unless `dtype` is
// given.
Tensor scalar_tensor(const Scalar& value);
Tensor scalar_tensor(const Scalar& value, TensorOptions options);

// Copies count_of(sizes) elements of the dtype from host memory; returns when the caller may change `data`.
Tensor from_data(const void* data, const Dims& sizes, TensorOptions options = {});
template <OneOption Option>
Tensor from_data(const void* data, const Dims& sizes, Option option) {
  return from_data(data, sizes, options_of(option));
}
// Takes the values row by row. Throws Error{InvalidArgument} unless there are as many as the sizes have elements.
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
// Returns all elements row by row, for any memory layout; waits for the device. Throws Error{InvalidArgument} if
// T is not the tensor's dtype.
template <class T>
std::vector<T> to_vector(const Tensor& tensor);

}  // namespace distrun::tensor::plain

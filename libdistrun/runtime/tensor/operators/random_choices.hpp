#pragma once
// Random integers, permutations and bools from Philox (random.hpp).
#include <distrun/runtime/tensor/operators/random.hpp>

namespace distrun::tensor::plain {

// Returns uniform integers of low .. high - 1, as int64 unless another dtype is given. Throws Error{InvalidArgument} if
// the range is empty, or the dtype cannot hold each integer: float32 is exact up to 2^24, float64 up to 2^53.
Tensor randint(std::int64_t low, std::int64_t high, const Dims& sizes, TensorOptions options = {DType::I64, {}},
               Generator& generator = default_generator());
Tensor randint(std::int64_t high, const Dims& sizes, TensorOptions options = {DType::I64, {}},
               Generator& generator = default_generator());  // from 0
// Returns options in which int64 is the default dtype.
inline TensorOptions whole_options(DType dtype) noexcept { return {dtype, device::kCpu}; }
inline TensorOptions whole_options(Device device) noexcept { return {DType::I64, device}; }
// With a single option: randint(0, 10, {2}, I32).
template <OneOption Option>
Tensor randint(std::int64_t low, std::int64_t high, const Dims& sizes, Option option) {
  return randint(low, high, sizes, whole_options(option));
}
template <OneOption Option>
Tensor randint(std::int64_t high, const Dims& sizes, Option option) {
  return randint(0, high, sizes, whole_options(option));
}
// 0 .. count - 1 in a random order, int64.
Tensor randperm(std::int64_t count, Device device = device::kCpu, Generator& generator = default_generator());
// Returns 1 with the probability given by each element, otherwise 0; in the dtype of the probabilities, which is
// floating. Throws Error{InvalidArgument} for a probability outside of 0 .. 1; waits for the device to check.
Tensor bernoulli(const Tensor& probabilities, Generator& generator = default_generator());

}  // namespace distrun::tensor::plain

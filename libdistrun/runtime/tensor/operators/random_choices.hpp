#pragma once
// Random whole numbers, orders and truth, by Philox (random.hpp).
#include <distrun/runtime/tensor/operators/random.hpp>

namespace distrun::tensor::plain {

// Each of low .. high - 1 as likely as the others, as int64 unless another dtype holds them. Throws
// Error{InvalidArgument} if there is none, or the dtype can't hold each of them: float32 has whole numbers up to 2^24,
// float64 up to 2^53.
Tensor randint(std::int64_t low, std::int64_t high, const Dims& sizes, TensorOptions options = {DType::I64, {}},
               Generator& generator = default_generator());
Tensor randint(std::int64_t high, const Dims& sizes, TensorOptions options = {DType::I64, {}},
               Generator& generator = default_generator());  // from 0
inline TensorOptions whole_options(DType dtype) noexcept { return {dtype, device::kCpu}; }
inline TensorOptions whole_options(Device device) noexcept { return {DType::I64, device}; }
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
// 1 with the probability that stands there, else 0; in the dtype of the probabilities, which is a floating one. Throws
// Error{InvalidArgument} for what is none of 0 to 1; to see it waits for the device.
Tensor bernoulli(const Tensor& probabilities, Generator& generator = default_generator());

}  // namespace distrun::tensor::plain

#pragma once
// Evenly spaced numbers. Without a dtype they are int64 if all arguments are integers, otherwise float32. arange(end)
// of an integer: factories.hpp.
#include <concepts>

#include <distrun/runtime/tensor/core/factories.hpp>

namespace distrun::tensor::plain {

// Returns start, start + step, .. below `end`. Throws Error{InvalidArgument} for a step of 0 or in the wrong direction.
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step = 1);
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, TensorOptions options);
inline Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, DType dtype) {
  return arange(start, end, step, options_of(dtype));
}
// Starts from 0.
template <std::floating_point Number>
Tensor arange(Number end) {
  return arange(Scalar(0), Scalar(end));
}

// Returns `steps` numbers from `start` to `end` inclusive; a single one is the start.
Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps, TensorOptions options = {});
template <OneOption Option>
Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps, Option option) {
  return linspace(start, end, steps, options_of(option));
}

}  // namespace distrun::tensor::plain

#pragma once
// Numbers in steps. Without a dtype they are int64 if all that is given is integers, else float32. arange(end) of an
// integer: factories.hpp.
#include <concepts>

#include <distrun/runtime/tensor/core/factories.hpp>

namespace distrun::tensor::plain {

// start, start + step, .. up to but not `end`. Throws Error{InvalidArgument} for a step of 0 or one that leads away.
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step = 1);
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, TensorOptions options);
inline Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, DType dtype) {
  return arange(start, end, step, options_of(dtype));
}
// From 0.
template <std::floating_point Number>
Tensor arange(Number end) {
  return arange(Scalar(0), Scalar(end));
}

// `steps` numbers from `start` to `end`, both among them; one alone is the start.
Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps, TensorOptions options = {});
template <OneOption Option>
Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps, Option option) {
  return linspace(start, end, steps, options_of(option));
}

}  // namespace distrun::tensor::plain

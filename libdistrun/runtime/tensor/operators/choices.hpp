#pragma once
// Elementwise operators that choose between elements. Inputs stretch to common sizes, and numbers may stand for them;
// those that the result's dtype can't hold are refused with Error{InvalidArgument}.
#include <optional>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// Elements of a where the condition, which is bool, is true, and of b elsewhere.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor where(const Tensor& condition, const Tensor& a, const Scalar& b);
Tensor where(const Tensor& condition, const Scalar& a, const Tensor& b);
Tensor where(const Tensor& condition, const Scalar& a, const Scalar& b);

// No less than `least`, no more than `largest`, and `largest` if that is the less of the two. Not a number stays so,
// and with such a bound all are. At least one bound is needed.
Tensor clamp(const Tensor& a, const std::optional<Scalar>& least, const std::optional<Scalar>& largest = {});
void clamp_(const Tensor& a, const std::optional<Scalar>& least, const std::optional<Scalar>& largest = {});

// a * factor where it is kept, else a * 0.
Tensor keep_scaled(const Tensor& kept, const Tensor& a, const Scalar& factor);

// The gradient of the first of the two: all where it was chosen, half where both were the same.
Tensor maximum_backward(const Tensor& gradient, const Tensor& a, const Tensor& b);
Tensor minimum_backward(const Tensor& gradient, const Tensor& a, const Tensor& b);

}  // namespace distrun::tensor::plain

#pragma once
// Elementwise operators that choose between elements. Inputs are broadcast, and may be numbers; a number that does not
// fit the result's dtype throws Error{InvalidArgument}.
#include <optional>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// Takes elements of a where the bool condition is true, and of b elsewhere.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor where(const Tensor& condition, const Tensor& a, const Scalar& b);
Tensor where(const Tensor& condition, const Scalar& a, const Tensor& b);
Tensor where(const Tensor& condition, const Scalar& a, const Scalar& b);

// Limits elements to least .. largest; `largest` wins if it is below `least`. NaN elements stay NaN, and a NaN bound
// makes all elements NaN. At least one bound is required.
Tensor clamp(const Tensor& a, const std::optional<Scalar>& least, const std::optional<Scalar>& largest = {});
// Is clamp() in place.
void clamp_(const Tensor& a, const std::optional<Scalar>& least, const std::optional<Scalar>& largest = {});

// Returns a * factor where `kept` is true, otherwise a * 0.
Tensor keep_scaled(const Tensor& kept, const Tensor& a, const Scalar& factor);

// Returns the gradient of a in maximum(a, b): all of it where a was chosen, half where both were equal.
Tensor maximum_backward(const Tensor& gradient, const Tensor& a, const Tensor& b);
// Returns the gradient of a in minimum(a, b), in the same way.
Tensor minimum_backward(const Tensor& gradient, const Tensor& a, const Tensor& b);

}  // namespace distrun::tensor::plain

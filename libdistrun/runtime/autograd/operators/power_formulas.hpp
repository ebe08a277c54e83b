#pragma once
// Gradients of powers with tensors as exponents, for both forms: with a new result, and in place.
#include <distrun/runtime/autograd/operators/formula_operators.hpp>

namespace distrun::autograd {

inline Tensor zero_where(const Tensor& condition, const Tensor& slope) { return formula::where(condition, 0, slope); }

// The gradients of a to the power of b: g b a^(b - 1), and g a^b log(a). Where b is 0, and for the latter where a is 0
// and b is not negative, these are 0, though a factor may be infinite.
struct PowBackward {
  static constexpr const char* kName = "PowBackward1";
  SavedTensor a, b;
  SavedTensor result{};  // only if b needs a gradient
  bool is_of_exponent = false;

  Gradients apply(const Node& node, Gradients gradients) {
    Gradients results(2);
    const Tensor base = a.unpack(node), exponent = b.unpack(node);
    if (node.needs(0)) {
      const Tensor slope = formula::mul(exponent, formula::pow(base, formula::sub(exponent, 1)));
      results[0] = formula::mul(gradients[0], zero_where(tensor::eq(exponent, 0), slope));
    }
    if (node.needs(1)) {
      const Tensor is_flat = tensor::logical_and(tensor::eq(base, 0), tensor::ge(exponent, 0));
      const Tensor slope = formula::mul(result.unpack(node), formula::log(base));
      results[1] = formula::mul(gradients[0], zero_where(is_flat, slope));
    }
    return results;
  }
  void release() noexcept {
    for (SavedTensor* each : {&a, &b, &result}) each->release();
  }
  void keep_result(const Tensor& made) {
    if (is_of_exponent) result = SavedTensor::of_result(made);
  }
};

}  // namespace distrun::autograd

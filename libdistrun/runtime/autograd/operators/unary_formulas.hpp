#pragma once
// Gradients of operators of one tensor, for both forms: with a new result, and in place.
#include <distrun/runtime/autograd/operators/formula_operators.hpp>

namespace distrun::autograd {

// A rule computes the input's gradient from the result's and a saved tensor: the input, or the result if kOfResult.
template <class Rule>
struct UnaryBackward {
  static constexpr const char* kName = Rule::kName;
  Rule rule;
  SavedTensor kept;

  Gradients apply(const Node& node, Gradients gradients) {
    Gradients results(1);
    results[0] = rule(gradients[0], kept.unpack(node));
    return results;
  }
  void release() noexcept { kept.release(); }
  // The result of an in-place operator exists only after the node.
  void keep_result(const Tensor& result) requires Rule::kOfResult { kept = SavedTensor::of_result(result); }
};

// Applies a mask to a gradient; its adjoint applies the same mask.
template <class Mask>
Tensor masked(const char* kind, const Tensor& gradient, const Tensor& by, Mask mask) {
  return linear_map(kind, gradient, mask, mask, by);
}

struct OfInput {
  static constexpr bool kOfResult = false;
};
struct OfResult {
  static constexpr bool kOfResult = true;
};

// Keeps nothing.
struct NegBackward {
  static constexpr const char* kName = "NegBackward0";
  Gradients apply(const Node&, Gradients gradients) {
    gradients[0] = formula::neg(gradients[0]);
    return gradients;
  }
};

struct OfCos : OfInput {
  static constexpr const char* kName = "CosBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& a) const {
    return formula::neg(formula::mul(gradient, formula::sin(a)));
  }
};
struct OfSin : OfInput {
  static constexpr const char* kName = "SinBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& a) const { return formula::mul(gradient, formula::cos(a)); }
};
struct OfSigmoid : OfResult {
  static constexpr const char* kName = "SigmoidBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& result) const {
    if (!is_grad_enabled()) return tensor::sigmoid_backward(gradient, result);
    return formula::mul(gradient, formula::mul(result, formula::rsub(1, result)));
  }
};
struct OfTanh : OfResult {
  static constexpr const char* kName = "TanhBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& result) const {
    if (!is_grad_enabled()) return tensor::tanh_backward(gradient, result);
    return formula::mul(gradient, formula::rsub(1, formula::square(result)));
  }
};
struct OfExp : OfResult {
  static constexpr const char* kName = "ExpBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& result) const { return formula::mul(gradient, result); }
};
struct OfLog : OfInput {
  static constexpr const char* kName = "LogBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& a) const { return formula::div(gradient, a); }
};
struct OfSqrt : OfResult {
  static constexpr const char* kName = "SqrtBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& result) const {
    return formula::div(gradient, formula::mul(result, 2));
  }
};
struct OfRsqrt : OfResult {
  static constexpr const char* kName = "RsqrtBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& result) const {
    return formula::mul(formula::mul(gradient, -0.5), formula::pow(result, 3));
  }
};
struct OfReciprocal : OfResult {
  static constexpr const char* kName = "ReciprocalBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& result) const {
    return formula::neg(formula::mul(gradient, formula::square(result)));
  }
};
struct OfAbs : OfInput {
  static constexpr const char* kName = "AbsBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& a) const {
    return masked(kName, gradient, a, tensor::abs_backward);
  }
};
struct OfRelu : OfResult {
  static constexpr const char* kName = "ReluBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& result) const {
    return masked(kName, gradient, result,
                  [](const Tensor& g, const Tensor& of) { return tensor::threshold_backward(g, of, 0); });
  }
};
struct OfClampMin : OfInput {
  static constexpr const char* kName = "ClampMinBackward0";
  Scalar least;
  Tensor operator()(const Tensor& gradient, const Tensor& a) const {
    return masked(kName, gradient, a, [least = least](const Tensor& g, const Tensor& of) {
      return tensor::clamp_min_backward(g, of, least);
    });
  }
};
struct OfClampMax : OfInput {
  static constexpr const char* kName = "ClampMaxBackward0";
  Scalar largest;
  Tensor operator()(const Tensor& gradient, const Tensor& a) const {
    return masked(kName, gradient, a, [largest = largest](const Tensor& g, const Tensor& of) {
      return tensor::clamp_max_backward(g, of, largest);
    });
  }
};
struct OfClamp : OfInput {
  static constexpr const char* kName = "ClampBackward1";
  std::optional<Scalar> least, largest;
  Tensor operator()(const Tensor& gradient, const Tensor& a) const {
    const Tensor above = least ? OfClampMin{{}, *least}(gradient, a) : gradient;
    return largest ? OfClampMax{{}, *largest}(above, a) : above;
  }
};

// The gradient of a to the power of a number.
struct OfPow : OfInput {
  static constexpr const char* kName = "PowBackward0";
  Scalar exponent;
  Tensor operator()(const Tensor& gradient, const Tensor& a) const {
    const auto number = exponent.to<double>();
    if (number == 0) return formula::mul(gradient, 0);
    if (number == 1) return gradient;
    return formula::mul(gradient, formula::mul(formula::pow(a, number - 1), number));
  }
};

}  // namespace distrun::autograd

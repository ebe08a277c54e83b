#pragma once
// Gradients of operators of one tensor, for the forms that make a result and for those in place.
#include <distrun/runtime/autograd/record.hpp>
#include <distrun/runtime/tensor/operators/choices.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/powers.hpp>

namespace distrun::autograd {

// A rule makes the gradient of the input of that of the result and a tensor that was kept: the input, or if kOfResult
// the result.
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
  // In place the result is there after the node.
  void keep_result(const Tensor& result) requires Rule::kOfResult { kept = SavedTensor(result, true); }
};

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
    gradients[0] = tensor::neg(gradients[0]);
    return gradients;
  }
};

struct OfCos : OfInput {
  static constexpr const char* kName = "CosBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& a) const {
    return tensor::neg(tensor::mul(gradient, tensor::sin(a)));
  }
};
struct OfSin : OfInput {
  static constexpr const char* kName = "SinBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& a) const { return tensor::mul(gradient, tensor::cos(a)); }
};
struct OfSigmoid : OfResult {
  static constexpr const char* kName = "SigmoidBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& result) const {
    return tensor::sigmoid_backward(gradient, result);
  }
};
struct OfTanh : OfResult {
  static constexpr const char* kName = "TanhBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& result) const {
    return tensor::tanh_backward(gradient, result);
  }
};
struct OfExp : OfResult {
  static constexpr const char* kName = "ExpBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& result) const { return tensor::mul(gradient, result); }
};
struct OfLog : OfInput {
  static constexpr const char* kName = "LogBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& a) const { return tensor::div(gradient, a); }
};
struct OfSqrt : OfResult {
  static constexpr const char* kName = "SqrtBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& result) const {
    return tensor::div(gradient, tensor::mul(result, 2));
  }
};
struct OfRsqrt : OfResult {
  static constexpr const char* kName = "RsqrtBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& result) const {
    return tensor::mul(tensor::mul(gradient, -0.5), tensor::pow(result, 3));
  }
};
struct OfReciprocal : OfResult {
  static constexpr const char* kName = "ReciprocalBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& result) const {
    return tensor::neg(tensor::mul(gradient, tensor::square(result)));
  }
};
struct OfAbs : OfInput {
  static constexpr const char* kName = "AbsBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& a) const { return tensor::abs_backward(gradient, a); }
};
struct OfRelu : OfResult {
  static constexpr const char* kName = "ReluBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& result) const {
    return tensor::threshold_backward(gradient, result, 0);
  }
};
struct OfClampMin : OfInput {
  static constexpr const char* kName = "ClampMinBackward0";
  Scalar least;
  Tensor operator()(const Tensor& gradient, const Tensor& a) const {
    return tensor::clamp_min_backward(gradient, a, least);
  }
};
struct OfClampMax : OfInput {
  static constexpr const char* kName = "ClampMaxBackward0";
  Scalar largest;
  Tensor operator()(const Tensor& gradient, const Tensor& a) const {
    return tensor::clamp_max_backward(gradient, a, largest);
  }
};
struct OfClamp : OfInput {
  static constexpr const char* kName = "ClampBackward1";
  std::optional<Scalar> least, largest;
  Tensor operator()(const Tensor& gradient, const Tensor& a) const {
    const Tensor above = least ? tensor::clamp_min_backward(gradient, a, *least) : gradient;
    return largest ? tensor::clamp_max_backward(above, a, *largest) : above;
  }
};

// Of a to the power of a number.
struct OfPow : OfInput {
  static constexpr const char* kName = "PowBackward0";
  Scalar exponent;
  Tensor operator()(const Tensor& gradient, const Tensor& a) const {
    const auto number = exponent.to<double>();
    if (number == 0) return tensor::mul(gradient, 0);
    if (number == 1) return gradient;
    return tensor::mul(gradient, tensor::mul(tensor::pow(a, number - 1), number));
  }
};

}  // namespace distrun::autograd

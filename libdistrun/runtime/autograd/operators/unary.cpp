#include <distrun/runtime/autograd/operators/elementwise.hpp>
#include <distrun/runtime/autograd/record.hpp>
#include <distrun/runtime/autograd/scope.hpp>

namespace distrun {
namespace {

using namespace autograd;

// A formula of the gradient and one tensor that was kept.
template <class Kept>
struct UnaryBackward {
  static constexpr const char* kName = Kept::kName;
  Kept rule;
  SavedTensor kept;

  Gradients apply(const Node& node, Gradients gradients) {
    Gradients results(1);
    results[0] = rule(gradients[0], kept.unpack(node));
    return results;
  }
  void release() noexcept { kept.release(); }
};

struct Negated {
  static constexpr const char* kName = "NegBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor&) const { return tensor::neg(gradient); }
};
struct OfCos {
  static constexpr const char* kName = "CosBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& a) const {
    return tensor::neg(tensor::mul(gradient, tensor::sin(a)));
  }
};
struct OfSin {
  static constexpr const char* kName = "SinBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& a) const { return tensor::mul(gradient, tensor::cos(a)); }
};
struct OfSigmoid {
  static constexpr const char* kName = "SigmoidBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& result) const {
    return tensor::sigmoid_backward(gradient, result);
  }
};
struct OfRelu {
  static constexpr const char* kName = "ReluBackward0";
  Tensor operator()(const Tensor& gradient, const Tensor& result) const {
    return tensor::threshold_backward(gradient, result, 0);
  }
};
struct OfClampMin {
  static constexpr const char* kName = "ClampMinBackward0";
  Scalar least;
  Tensor operator()(const Tensor& gradient, const Tensor& a) const {
    return tensor::clamp_min_backward(gradient, a, least);
  }
};

template <class Rule>
Tensor from_input(Tensor result, const Tensor& a, Rule rule) {
  if (!needs_gradient(a)) return result;
  return with_history(std::move(result), record(UnaryBackward<Rule>{rule, SavedTensor(a)}, a));
}

template <class Rule>
Tensor from_result(Tensor result, const Tensor& a, Rule rule) {
  if (!needs_gradient(a)) return result;
  auto node = record(UnaryBackward<Rule>{rule, SavedTensor(result, true)}, a);
  return with_history(std::move(result), std::move(node));
}

}  // namespace

Tensor neg(const Tensor& a) {
  const OperatorScope scope("neg", a);
  Tensor result = tensor::neg(a);
  if (!needs_gradient(a)) return result;
  return with_history(std::move(result), record(UnaryBackward<Negated>{}, a));
}

Tensor cos(const Tensor& a) {
  const OperatorScope scope("cos", a);
  return from_input(tensor::cos(a), a, OfCos{});
}

Tensor sin(const Tensor& a) {
  const OperatorScope scope("sin", a);
  return from_input(tensor::sin(a), a, OfSin{});
}

Tensor sigmoid(const Tensor& a) {
  const OperatorScope scope("sigmoid", a);
  return from_result(tensor::sigmoid(a), a, OfSigmoid{});
}

Tensor relu(const Tensor& a) {
  const OperatorScope scope("relu", a);
  const OperatorScope within("clamp_min", a);  // what relu is made of, as people of the field see it
  return from_result(tensor::relu(a), a, OfRelu{});
}

Tensor clamp_min(const Tensor& a, const Scalar& least) {
  const OperatorScope scope("clamp_min", a);
  return from_input(tensor::clamp_min(a, least), a, OfClampMin{least});
}

}  // namespace distrun

#pragma once
// Gradients of + - * /, for the forms that return a new tensor and the in-place forms.
#include <distrun/runtime/autograd/operators/formula_operators.hpp>

namespace distrun::autograd {

// The gradient of a + alpha b. A form with a number instead of b has one edge.
struct AddBackward {
  static constexpr const char* kName = "AddBackward0";
  Scalar alpha;

  Gradients apply(const Node& node, Gradients gradients) {
    Gradients results(node.next_edges().size());
    if (node.needs(1)) results[1] = alpha == Scalar(1) ? gradients[0] : formula::mul(gradients[0], alpha);
    if (node.needs(0)) results[0] = std::move(gradients[0]);
    return results;
  }
};

struct SubBackward {
  static constexpr const char* kName = "SubBackward0";
  Scalar alpha;

  Gradients apply(const Node& node, Gradients gradients) {
    Gradients results(node.next_edges().size());
    if (node.needs(1)) {
      results[1] = formula::neg(gradients[0]);
      if (alpha != Scalar(1)) results[1] = formula::mul(results[1], alpha);
    }
    if (node.needs(0)) results[0] = std::move(gradients[0]);
    return results;
  }
};

// Keeps a and b only as far as the gradient of the other needs them.
struct MulBackward {
  static constexpr const char* kName = "MulBackward0";
  SavedTensor a, b;

  Gradients apply(const Node& node, Gradients gradients) {
    Gradients results(2);
    if (node.needs(0)) results[0] = formula::mul(gradients[0], b.unpack(node));
    if (node.needs(1)) results[1] = formula::mul(gradients[0], a.unpack(node));
    return results;
  }
  void release() noexcept {
    a.release();
    b.release();
  }
};

struct MulScalarBackward {
  static constexpr const char* kName = "MulBackward0";
  Scalar factor;

  Gradients apply(const Node&, Gradients gradients) {
    Gradients results(1);
    results[0] = formula::mul(gradients[0], factor);
    return results;
  }
};

// Keeps a only if b needs a gradient.
struct DivBackward {
  static constexpr const char* kName = "DivBackward0";
  SavedTensor a, b;

  Gradients apply(const Node& node, Gradients gradients) {
    Gradients results(2);
    const Tensor divisor = b.unpack(node);
    Tensor of_a = formula::div(gradients[0], divisor);
    if (node.needs(1)) results[1] = formula::neg(formula::mul(of_a, formula::div(a.unpack(node), divisor)));
    if (node.needs(0)) results[0] = std::move(of_a);
    return results;
  }
  void release() noexcept {
    a.release();
    b.release();
  }
};

struct DivScalarBackward {
  static constexpr const char* kName = "DivBackward0";
  Scalar divisor;

  Gradients apply(const Node&, Gradients gradients) {
    Gradients results(1);
    results[0] = formula::div(gradients[0], divisor);
    return results;
  }
};

}  // namespace distrun::autograd

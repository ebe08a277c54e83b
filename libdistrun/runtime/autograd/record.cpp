#include <distrun/runtime/autograd/record.hpp>

namespace distrun::autograd {

bool any_needs_gradient(const TensorList& inputs) {
  return is_grad_enabled() &&
         std::any_of(inputs.begin(), inputs.end(), [](const Tensor& t) { return requires_grad(t); });
}

Tensor with_history(Tensor result, Ref<Node> node) {
  if (!tensor::is_floating(result.dtype())) return result;
  Variable& variable = make_variable(result);
  variable.output = node->add_input(result);
  variable.grad_fn = std::move(node);
  return result;
}

}  // namespace distrun::autograd

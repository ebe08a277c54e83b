#include <distrun/runtime/autograd/gradient.hpp>

#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/accumulate_grad.hpp>
#include <distrun/runtime/autograd/node_hooks.hpp>
#include <distrun/runtime/autograd/variable.hpp>
#include <distrun/runtime/tensor/core/views.hpp>

namespace distrun::autograd {
namespace {

void check_defined(const Tensor& tensor, const char* what) {
  if (!tensor.defined()) throw Error(ErrorKind::InvalidArgument, std::string(what) + " of an undefined tensor");
}

void check_fits(const Tensor& tensor, const Tensor& gradient) {
  const auto refuse = [](const std::string& what, const std::string& has, const std::string& wanted) {
    throw Error(ErrorKind::InvalidArgument,
                "the gradient of a tensor must be like it: its " + what + " is " + has + ", the tensor's " + wanted);
  };
  if (gradient.sizes() != tensor.sizes()) {
    refuse("size", device::to_string(gradient.sizes()), device::to_string(tensor.sizes()));
  }
  if (gradient.dtype() != tensor.dtype()) {
    refuse("dtype", std::string(name_of(gradient.dtype())), std::string(name_of(tensor.dtype())));
  }
  if (gradient.device() != tensor.device()) {
    refuse("device", device::to_string(gradient.device()), device::to_string(tensor.device()));
  }
}

}  // namespace

Tensor set_requires_grad(const Tensor& tensor, bool wanted) {
  check_defined(tensor, "requires_grad");
  if (!is_leaf(tensor)) {
    if (wanted) return tensor;
    throw Error(ErrorKind::InvalidArgument,
                "requires_grad can be taken from leaf tensors only; this one is a result of " +
                    grad_fn(tensor)->name() + "; use detach() for a tensor without a gradient");
  }
  if (wanted && !tensor::is_floating(tensor.dtype())) {
    throw Error(ErrorKind::InvalidArgument, "only tensors of floating point dtype can require gradients, not " +
                                                std::string(name_of(tensor.dtype())));
  }
  if (wanted || variable_of(tensor) != nullptr) make_variable(tensor).requires_grad = wanted;
  return tensor;
}

Tensor grad(const Tensor& tensor) {
  const Variable* variable = variable_of(tensor);
  return variable == nullptr ? Tensor() : variable->grad;
}

void set_grad(const Tensor& tensor, Tensor gradient) {
  check_defined(tensor, "the gradient");
  if (gradient.defined()) {
    if (gradient.is_same(tensor)) throw Error(ErrorKind::InvalidArgument, "a tensor cannot be its own gradient");
    check_fits(tensor, gradient);
  }
  if (gradient.defined() || variable_of(tensor) != nullptr) make_variable(tensor).grad = std::move(gradient);
}

HookId register_hook(const Tensor& tensor, TensorHook hook) {
  const Edge edge = gradient_edge(tensor);
  if (!edge) {
    throw Error(ErrorKind::InvalidArgument, "cannot register a hook on a tensor that doesn't require gradient");
  }
  if (!hook) throw Error(ErrorKind::InvalidArgument, "cannot register an empty function as a hook");
  // (A leaf's node keeps the leaf alive.)
  if (!edge.node->is_leaf()) variable_of(tensor)->hooked.push_back(edge.node);
  return edge.node->add_tensor_hook(edge.input, std::move(hook));
}

void remove_hook(const Tensor& tensor, HookId hook) {
  const Variable* const variable = variable_of(tensor);
  if (variable == nullptr) return;
  const auto remove_from = [hook](Node& node) {
    if (node.hooks() != nullptr && node.hooks()->has(hook)) node.remove_hook(hook);
  };
  if (is_leaf(tensor)) remove_from(*accumulator_of(tensor));
  for (const Ref<Node>& node : variable->hooked) remove_from(*node);
}

Tensor detach(const Tensor& tensor) { return tensor::alias(tensor); }

}  // namespace distrun::autograd

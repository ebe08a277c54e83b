#include <distrun/runtime/autograd/history.hpp>

#include <algorithm>

#include <distrun/runtime/autograd/accumulate_grad.hpp>
#include <distrun/runtime/autograd/formula_node.hpp>
#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/autograd/variable.hpp>
#include <distrun/runtime/tensor/core/called_operator.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/reduce.hpp>

namespace distrun::autograd {
namespace {

// Where a view lies in its base's block of memory. Gradients of the base get a block of the same shape, so that the
// same strides find the view's part of it.
class Placement {
 public:
  Placement(const Tensor& base, const Tensor& view)
      : base_{base.strided().sizes, base.strides()},
        view_{view.sizes(), view.strides()},
        distance_(view.strided().offset - base.strided().offset),
        dtype_(base.dtype()),
        device_(base.device()) {}

  // All zeros but for the view's part.
  Tensor spread(const Tensor& gradient) const {
    const Tensor block = tensor::zeros({span_of(base_)}, {dtype_, device_});
    if (gradient.numel() > 0) put(block, gradient);
    return base_of(block);
  }
  // A copy of a gradient of the base, with its strides.
  Tensor copy(const Tensor& gradient) const {
    const Tensor block = tensor::empty({span_of(base_)}, {dtype_, device_});
    const Tensor copy = base_of(block);
    tensor::copy_(copy, gradient);
    return copy;
  }
  // Of a tensor that copy() made.
  Tensor view_of(const Tensor& copy) const {
    return tensor::as_strided(copy, view_.sizes, view_.strides, copy.strided().offset + distance_);
  }

 private:
  struct Geometry {
    Dims sizes, strides;
  };

  static std::int64_t span_of(const Geometry& geometry) {
    if (std::find(geometry.sizes.begin(), geometry.sizes.end(), 0) != geometry.sizes.end()) return 0;
    std::int64_t span = 1;
    for (std::size_t i = 0; i < geometry.sizes.size(); ++i) {
      span += (geometry.sizes[i] - 1) * geometry.strides[i];
    }
    return span;
  }
  Tensor base_of(const Tensor& block) const { return tensor::as_strided(block, base_.sizes, base_.strides, 0); }

  // Elements of the view that are one in memory, since it was expanded, share their sum.
  void put(const Tensor& block, const Tensor& gradient) const {
    Dims sizes = view_.sizes;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (view_.strides[i] == 0) sizes[i] = 1;
    }
    tensor::copy_(tensor::as_strided(block, sizes, view_.strides, distance_), tensor::sum_to_size(gradient, sizes));
  }

  const Geometry base_, view_;
  const std::int64_t distance_;
  const tensor::DType dtype_;
  const Device device_;
};

struct AsStridedBackward {
  static constexpr const char* kName = "AsStridedBackward0";
  Placement placement;

  Gradients apply(const Node&, Gradients gradients) {
    Gradients results(1);
    results[0] = placement.spread(gradients[0]);
    return results;
  }
};

// The gradient of a base of which `inner` changed a part. Its first edge leads to the base as it was before, the others
// to the operator's other inputs.
class CopySlices final : public Node {
 public:
  CopySlices(const Tensor& base, const Tensor& view, Ref<Node> inner)
      : placement_(base, view), inner_(std::move(inner)) {
    add_input(base);
    add_next_edge(gradient_edge(base));
    for (std::size_t i = 1; i < inner_->next_edges().size(); ++i) add_next_edge(inner_->next_edges()[i]);
  }

  std::string name() const override { return "torch::autograd::CopySlices"; }

  Gradients apply(Gradients gradients) override {
    if (!gradients[0].defined()) return Gradients(next_edges().size());
    Tensor whole = placement_.copy(gradients[0]);
    const Tensor part = placement_.view_of(whole);
    Gradients of_part(1);
    of_part[0] = tensor::clone(part);
    Gradients results = inner_->apply(std::move(of_part));
    if (results[0].defined()) {
      tensor::copy_(part, results[0]);
    } else {
      tensor::fill_(part, 0);
    }
    results[0] = std::move(whole);
    return results;
  }

  void release_saved() noexcept override { inner_->release_saved(); }

 private:
  const Placement placement_;
  const Ref<Node> inner_;
};

// Of a tensor that is a view: renewed if the base has been changed since.
Edge maker_of_view(const Tensor& view, Variable& variable) {
  const std::lock_guard lock(variable.view->mutex);
  if (variable.view->version == view.version()) return {variable.grad_fn, variable.output};
  variable.view->version = view.version();
  const Tensor& base = variable.view->base;
  Edge edge = gradient_edge(base);
  if (!edge) return {variable.grad_fn, variable.output};
  auto node = make_node_for(AsStridedBackward{Placement(base, view)});
  node->add_next_edge(std::move(edge));
  variable.output = node->add_input(view);
  variable.grad_fn = std::move(node);
  return {variable.grad_fn, variable.output};
}

// Without a node it is a leaf. Threads that only read a tensor may ask at the same time.
Edge maker_of(const Tensor& tensor) {
  Variable* const variable = variable_of(tensor);
  if (variable == nullptr) return {};
  return variable->view ? maker_of_view(tensor, *variable) : Edge{variable->grad_fn, variable->output};
}

}  // namespace

// A node's name without the namespaces that some have.
std::string Variable::shown_of(const Tensor& tensor) const {
  const Ref<Node> node = autograd::grad_fn(tensor);
  if (!node) return requires_grad ? "requires_grad=true" : "";
  const std::string name = node->name();
  return "grad_fn=<" + name.substr(name.rfind(':') + 1) + ">";
}

bool requires_grad(const Tensor& tensor) {
  const Variable* variable = variable_of(tensor);
  if (variable == nullptr) return false;
  return variable->requires_grad || (variable->view ? bool(grad_fn(tensor)) : bool(variable->grad_fn));
}

bool any_needs_gradient(const TensorList& inputs) {
  return is_grad_enabled() &&
         std::any_of(inputs.begin(), inputs.end(), [](const Tensor& t) { return requires_grad(t); });
}

bool is_leaf(const Tensor& tensor) { return !grad_fn(tensor); }

Ref<Node> grad_fn(const Tensor& tensor) { return maker_of(tensor).node; }

std::uint32_t output_number(const Tensor& tensor) { return maker_of(tensor).input; }

Edge gradient_edge(const Tensor& tensor) {
  if (Edge maker = maker_of(tensor)) return maker;
  const Variable* const variable = variable_of(tensor);
  if (variable == nullptr || !variable->requires_grad) return {};
  return {accumulator_of(tensor), 0};
}

void mark_view(const Tensor& view, const Tensor& of) {
  const Variable* source = variable_of(of);
  Variable& variable = make_variable(view);
  variable.view = std::make_unique<ViewInfo>();
  variable.view->base = source != nullptr && source->view ? source->view->base : of;
  variable.view->version = view.version();
  variable.view->is_unrecorded =
      !is_grad_enabled() || (source != nullptr && source->view && source->view->is_unrecorded);
}

void check_in_place(const Tensor& tensor) {
  const Variable* variable = variable_of(tensor);
  if (variable == nullptr || !is_grad_enabled()) return;
  if (variable->requires_grad && !grad_fn(tensor)) {
    tensor::refuse(
        "a leaf Variable that requires grad is being used in an in-place operation. Do it where nothing is recorded "
        "(NoGradGuard), or on a clone()");
  }
  if (!variable->view) return;
  const Tensor& base = variable->view->base;
  if (!requires_grad(base) && !requires_grad(tensor)) return;
  if (is_leaf(base)) {
    tensor::refuse(
        "a view of a leaf Variable that requires grad is being used in an in-place operation. Do it where nothing is "
        "recorded (NoGradGuard), or on a view of a clone()");
  }
  if (variable->view->is_unrecorded) {
    tensor::refuse(
        "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Make the view where "
        "operators are recorded, or change it where they are not");
  }
}

Tensor with_history(Tensor result, Ref<Node> node) {
  if (!tensor::is_floating(result.dtype())) return result;
  Variable& variable = make_variable(result);
  variable.output = node->add_input(result);
  variable.grad_fn = std::move(node);
  return result;
}

void rebase_history(const Tensor& changed, Ref<Node> node, std::uint32_t output) {
  Variable& variable = make_variable(changed);
  if (!variable.view) {
    variable.output = output;
    variable.grad_fn = std::move(node);
    return;
  }
  const Tensor& base = variable.view->base;
  auto slices = tensor::make_ref<CopySlices>(base, changed, std::move(node));
  Variable& of_base = make_variable(base);
  of_base.output = 0;
  of_base.grad_fn = std::move(slices);
}

}  // namespace distrun::autograd

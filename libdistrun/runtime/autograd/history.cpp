#include <distrun/runtime/autograd/history.hpp>

#include <algorithm>
#include <utility>

#include <distrun/runtime/autograd/accumulate_grad.hpp>
#include <distrun/runtime/autograd/formula_node.hpp>
#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/autograd/placement.hpp>
#include <distrun/runtime/autograd/variable.hpp>
#include <distrun/runtime/tensor/core/called_operator.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>

namespace distrun::autograd {
namespace {

// Maps a gradient by a placement, recorded if recording is on. Linear like linear_map(), which cannot be used here
// since it depends on this file.
using Map = Tensor (Placement::*)(const Tensor&) const;
Tensor mapped(const char* kind, const Placement& placement, const Tensor& gradient, Map run, Map adjoint);

struct PlacementBackward {
  const char* kind;
  Placement placement;
  Map run, adjoint;
  const char* name() const { return kind; }

  Gradients apply(const Node&, Gradients gradients) {
    gradients[0] = mapped(kind, placement, gradients[0], adjoint, run);
    return gradients;
  }
};

Tensor mapped(const char* kind, const Placement& placement, const Tensor& gradient, Map run, Map adjoint) {
  Tensor result = (placement.*run)(gradient);
  if (!is_grad_enabled() || !requires_grad(gradient)) return result;
  auto node = make_node_for(PlacementBackward{kind, placement, run, adjoint});
  node->add_next_edge(gradient_edge(gradient));
  return with_history(std::move(result), std::move(node));
}

struct AsStridedBackward {
  static constexpr const char* kName = "AsStridedBackward0";
  Placement placement;

  Gradients apply(const Node&, Gradients gradients) {
    gradients[0] = mapped(kName, placement, gradients[0], &Placement::spread, &Placement::part_of);
    return gradients;
  }
};

constexpr char kPart[] = "AsStridedBackward0";

// The formula of a gradient of the base in which the view's part was replaced.
struct ReplacedPartBackward {
  static constexpr const char* kName = "torch::autograd::CopySlices";
  Placement placement;

  Gradients apply(const Node& node, Gradients gradients) {
    constexpr Map kRest = &Placement::without_part;
    Gradients results(2);
    if (node.needs(0)) results[0] = mapped(kName, placement, gradients[0], kRest, kRest);
    if (node.needs(1)) results[1] = mapped(kPart, placement, gradients[0], &Placement::part_of, &Placement::spread);
    return results;
  }
};

// `part` may be undefined, which means zeros.
Tensor with_part(const Placement& placement, const Tensor& gradient, const Tensor& part) {
  Tensor whole = placement.without_part(gradient);
  if (part.defined()) tensor::copy_(placement.view_of(whole), part);
  auto node = make_node_for(ReplacedPartBackward{placement});
  node->add_next_edge(gradient_edge(gradient));
  node->add_next_edge(part.defined() ? gradient_edge(part) : Edge());
  const bool is_needed = node->needs(0) || node->needs(1);
  return is_needed ? with_history(std::move(whole), std::move(node)) : whole;
}

// Computes the gradient of a base of which `inner` changed a part. Its first edge leads to the base before the change,
// the others to the operator's other inputs.
class CopySlices final : public Node {
 public:
  // Edge `edge` of the inner node leads to the view before the change.
  CopySlices(const Tensor& base, const Tensor& view, Ref<Node> inner, std::size_t edge)
      : placement_(base, view), inner_(std::move(inner)), edge_(edge) {
    add_input(base);
    add_next_edge(gradient_edge(base));
    for (std::size_t i = 0; i < inner_->next_edges().size(); ++i) {
      if (i != edge_) add_next_edge(inner_->next_edges()[i]);
    }
  }

  std::string name() const override { return "torch::autograd::CopySlices"; }

  Gradients apply(Gradients gradients) override {
    if (!gradients[0].defined()) return Gradients(next_edges().size());
    if (is_grad_enabled()) return apply_recorded(gradients[0]);
    Tensor whole = placement_.copy(gradients[0]);
    const Tensor part = placement_.view_of(whole);
    Gradients of_part(1);
    of_part[0] = tensor::clone(part);
    Gradients results = inner_results(std::move(of_part));
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
  // Returns the inner node's results with the view's first.
  Gradients inner_results(Gradients gradients) const {
    Gradients results = inner_->apply(std::move(gradients));
    for (std::size_t i = edge_; i > 0; --i) std::swap(results[i], results[i - 1]);
    return results;
  }
  // Computes the same without in-place changes.
  Gradients apply_recorded(const Tensor& gradient) const {
    Gradients of_part(1);
    of_part[0] = mapped(kPart, placement_, gradient, &Placement::part_of, &Placement::spread);
    Gradients results = inner_results(std::move(of_part));
    results[0] = with_part(placement_, gradient, results[0]);
    return results;
  }

  const Placement placement_;
  const Ref<Node> inner_;
  const std::size_t edge_;
};

// A view returned by a custom function can be used only if its base was not changed since.
Edge maker_of_function_view(const Tensor& view, const Variable& variable) {
  const bool is_as_it_was =
      variable.view->version == view.version() || grad_fn(variable.view->base) == variable.view->maker_of_base;
  if (!is_as_it_was && variable.grad_fn) {
    tensor::refuse("the base of a view that " + variable.grad_fn->name() +
                   " has returned was changed in place since, and the view with it: its gradient would not be that of "
                   "the function. Return a clone() from the function, or change the base before it is called");
  }
  return {variable.grad_fn, variable.output};
}

// Renews a view's grad_fn if the base has been changed since.
Edge maker_of_view(const Tensor& view, Variable& variable) {
  if (variable.view->kind == ViewKind::OfFunction) return maker_of_function_view(view, variable);
  const std::lock_guard lock(variable.view->mutex);
  const bool is_never_renewed = variable.view->kind == ViewKind::Unrecorded;
  if (is_never_renewed || variable.view->version == view.version()) return {variable.grad_fn, variable.output};
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

// Returns an edge without a node for a leaf. Threads that only read a tensor may call it concurrently.
Edge maker_of(const Tensor& tensor) {
  Variable* const variable = variable_of(tensor);
  if (variable == nullptr) return {};
  return variable->view ? maker_of_view(tensor, *variable) : Edge{variable->grad_fn, variable->output};
}

}  // namespace

// Shows a node's name without the namespaces that some have.
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
  const bool is_of_view = source != nullptr && source->view;
  variable.view->kind = !is_grad_enabled() ? ViewKind::Unrecorded
                        : is_of_view       ? source->view->kind
                                           : ViewKind::Recorded;
  if (variable.view->kind == ViewKind::OfFunction) variable.view->maker_of_base = source->view->maker_of_base;
}

void mark_view_of_function(const Tensor& view) {
  ViewInfo& info = *variable_of(view)->view;
  info.kind = ViewKind::OfFunction;
  info.maker_of_base = grad_fn(info.base);
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
  if (variable->view->kind == ViewKind::OfFunction) {
    tensor::refuse(
        "a view that a custom function has returned is being modified inplace: its gradient would pass the function "
        "by. Return a clone() from the function, or modify a clone() of the view");
  }
  if (variable->view->kind == ViewKind::Unrecorded) {
    tensor::refuse(
        "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Make the view where "
        "operators are recorded, or change it where they are not");
  }
}

Tensor former_of(const Tensor& tensor) {
  Tensor copy = tensor::clone(tensor);
  if (Edge maker = maker_of(tensor)) {
    Variable& variable = make_variable(copy);
    variable.grad_fn = std::move(maker.node);
    variable.output = maker.input;
  }
  return copy;
}

Tensor with_history(Tensor result, Ref<Node> node) {
  if (!tensor::is_floating(result.dtype())) return result;
  Variable& variable = make_variable(result);
  variable.output = node->add_input(result);
  variable.grad_fn = std::move(node);
  return result;
}

void rebase_history(const Tensor& changed, Ref<Node> node, std::uint32_t output, std::size_t edge) {
  Variable& variable = make_variable(changed);
  if (!variable.view) {
    variable.output = output;
    variable.grad_fn = std::move(node);
    return;
  }
  const Tensor& base = variable.view->base;
  auto slices = tensor::make_ref<CopySlices>(base, changed, std::move(node), edge);
  Variable& of_base = make_variable(base);
  of_base.output = 0;
  of_base.grad_fn = std::move(slices);
}

}  // namespace distrun::autograd

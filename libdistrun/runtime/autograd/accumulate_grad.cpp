#include <distrun/runtime/autograd/accumulate_grad.hpp>

#include <distrun/runtime/autograd/gradient_streams.hpp>
#include <distrun/runtime/autograd/variable.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>

namespace distrun::autograd {
namespace {

// Returns the strides that a gradient of `variable` gets: the variable's if its elements fill a block without holes, in
// any order.
Dims strides_of_gradient(const Tensor& variable) {
  if (variable.is_sparse() || variable.is_contiguous()) return device::contiguous_strides(variable.sizes());
  const Dims& sizes = variable.sizes();
  const Dims& strides = variable.strides();
  std::int64_t expected = 1;
  for (std::size_t found = 0; found < sizes.size(); ++found) {
    std::size_t next = 0;
    while (next < sizes.size() && (strides[next] != expected || sizes[next] == 1)) ++next;
    if (next == sizes.size()) break;
    expected *= sizes[next];
  }
  return expected == variable.numel() ? strides : device::contiguous_strides(sizes);
}

bool can_keep(const Tensor& gradient, const Tensor& variable) {
  if (gradient.impl()->use_count() > 1 || !has_no_other_stream(gradient)) return false;
  if (gradient.is_sparse()) {
    const tensor::SparseParts& sparse = tensor::sparse(gradient);
    return sparse.indices.is_contiguous() && sparse.values.is_contiguous();
  }
  if (gradient.strided().storage()->use_count() > 1) return false;
  if (gradient.is_contiguous() && (variable.is_sparse() || variable.is_contiguous())) return true;
  return gradient.strides() == strides_of_gradient(variable);
}

Tensor copy_of(const Tensor& gradient, const Tensor& variable) {
  if (gradient.is_sparse()) return tensor::clone(gradient);
  const Dims strides = strides_of_gradient(variable);
  if (strides == device::contiguous_strides(gradient.sizes())) return tensor::clone(gradient);
  Tensor bytes = tensor::empty({gradient.numel()}, {gradient.dtype(), gradient.device()});
  Tensor copy = tensor::as_strided(bytes, gradient.sizes(), strides, 0);
  tensor::copy_(copy, gradient);
  return copy;
}

}  // namespace

void accumulate_into(Tensor& place, Tensor gradient, const Tensor& variable) {
  if (!place.defined()) {
    place = can_keep(gradient, variable) ? std::move(gradient) : copy_of(gradient, variable);
  } else if (place.is_sparse()) {
    place = tensor::add(gradient, place);
  } else {
    tensor::add_(place, gradient);
  }
}

AccumulateGrad::AccumulateGrad(const Tensor& variable) : Node(Leaf{}), variable_(variable.impl()) {
  add_input(variable);
}

bool AccumulateGrad::is_wanted() const noexcept {
  return static_cast<const Variable&>(*variable_->gradient).requires_grad;
}

Ref<Node> AccumulateGrad::handle() {
  if (count_up() == 0) variable_->retain();
  Ref<Node> handle(this);  // counts once more
  count_down();
  return handle;
}

void AccumulateGrad::let_go() noexcept { variable_->release(); }

Gradients AccumulateGrad::apply(Gradients gradients) {
  if (gradients[0].defined()) {
    const Tensor owner = variable();
    const std::lock_guard lock(mutex_);
    accumulate_into(variable_of(owner)->grad, std::move(gradients[0]), owner);
  }
  return {};
}

void AccumulateGrad::replace(const std::function<Tensor(const Tensor&)>& change) {
  const Tensor owner = variable();
  const std::lock_guard lock(mutex_);
  Tensor& place = variable_of(owner)->grad;
  place = change(place);
}

void AccumulateGrad::record_reader() {
  const Tensor owner = variable();
  const std::lock_guard lock(mutex_);
  autograd::record_reader(variable_of(owner)->grad);
}

Ref<Node> accumulator_of(const Tensor& leaf) {
  std::atomic<Node*>& place = variable_of(leaf)->accumulator;
  Node* node = place.load(std::memory_order_acquire);
  if (node == nullptr) {
    auto made = std::make_unique<AccumulateGrad>(leaf);
    if (place.compare_exchange_strong(node, made.get(), std::memory_order_acq_rel)) node = made.release();
  }
  return static_cast<AccumulateGrad*>(node)->handle();
}

}  // namespace distrun::autograd

#include <distrun/runtime/autograd/saved_tensor.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/autograd/history.hpp>
#include <distrun/runtime/autograd/variable.hpp>
#include <distrun/runtime/tensor/core/views.hpp>

namespace distrun::autograd {
namespace {

[[noreturn]] void throw_changed(const Tensor& tensor, bool is_output, std::uint32_t saved, const Node& owner) {
  std::string which = describe(tensor);
  const Ref<Node> maker = grad_fn(tensor);
  if (is_output) {
    which += ", a result of " + owner.name();
  } else if (maker) {
    which += ", output " + std::to_string(output_number(tensor)) + " of " + maker->name();
  }
  std::string text = "one of the variables needed for gradient computation has been modified by an inplace operation: ";
  text += which + ", is at version " + std::to_string(tensor.version()) + "; " + owner.name() + " expected version " +
          std::to_string(saved) +
          ". Keep a clone() of it, or change it after the backward pass; anomaly mode names the forward call";
  throw Error(ErrorKind::Failed, text);
}

// Returns a result that its node kept with its history, so that operators on it can be recorded.
Tensor with_maker(const Tensor& result, const Node& maker, std::uint32_t output) {
  Tensor same = tensor::alias(result);
  Variable& variable = make_variable(same);
  variable.grad_fn = Ref<Node>(const_cast<Node*>(&maker));
  variable.output = output;
  return same;
}

}  // namespace

void throw_released(const Node& owner) {
  throw Error(ErrorKind::Failed, "Trying to backward through the graph a second time, and what " + owner.name() +
                                     " had kept for it is released. Pass retain_graph = true to the first pass");
}

SavedTensor::SavedTensor(const Tensor& tensor) : tensor_(tensor) {
  if (tensor.defined()) version_ = tensor.version();
}

SavedTensor SavedTensor::of_result(const Tensor& result, std::uint32_t output) {
  SavedTensor saved(result.defined() ? tensor::alias(result) : result);
  saved.output_ = output;
  return saved;
}

Tensor SavedTensor::unpack(const Node& owner) const {
  const Tensor kept = peek(owner);
  if (!kept.defined()) return kept;
  if (kept.version() != version_) throw_changed(kept, output_.has_value(), version_, owner);
  const bool is_recorded = output_ && is_grad_enabled() && tensor::is_floating(kept.dtype());
  return is_recorded ? with_maker(kept, owner, *output_) : kept;
}

Tensor SavedTensor::peek(const Node& owner) const {
  {
    const Node::KeptLock lock(owner);
    if (!is_released_) return tensor_;
  }
  throw_released(owner);
}

}  // namespace distrun::autograd

#include <distrun/runtime/autograd/saved_tensor.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/history.hpp>
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

}  // namespace

void throw_released(const Node& owner) {
  throw Error(ErrorKind::Failed, "Trying to backward through the graph a second time, and what " + owner.name() +
                                     " had kept for it is released. Pass retain_graph = true to the first pass");
}

SavedTensor::SavedTensor(const Tensor& tensor, bool is_output)
    : tensor_(is_output && tensor.defined() ? tensor::alias(tensor) : tensor), is_output_(is_output) {
  if (tensor.defined()) version_ = tensor.version();
}

Tensor SavedTensor::unpack(const Node& owner) const {
  const Tensor kept = peek(owner);
  if (kept.defined() && kept.version() != version_) throw_changed(kept, is_output_, version_, owner);
  return kept;
}

Tensor SavedTensor::peek(const Node& owner) const {
  {
    const Node::KeptLock lock(owner);
    if (!is_released_) return tensor_;
  }
  throw_released(owner);
}

}  // namespace distrun::autograd

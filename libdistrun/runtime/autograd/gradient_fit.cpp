#include <distrun/runtime/autograd/gradient_fit.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/reduce.hpp>

namespace distrun::autograd {
namespace {

// Whether `to` may have been broadcast to `from`.
bool can_sum_to(const Dims& from, const Dims& to) {
  if (to.size() > from.size()) return false;
  const std::size_t ahead = from.size() - to.size();
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] != 1 && to[i] != from[ahead + i]) return false;
  }
  return true;
}

bool is_alone(const Tensor& tensor) {
  return tensor.impl()->use_count() == 1 && !tensor.is_sparse() && tensor.strided().storage()->use_count() == 1;
}

}  // namespace

void fit(Tensor& gradient, const InputMetadata& wanted, const Node& maker, std::size_t result) {
  if (gradient.sizes() != wanted.sizes) {
    if (gradient.is_sparse() || !can_sum_to(gradient.sizes(), wanted.sizes)) {
      throw Error(ErrorKind::InvalidArgument,
                  "Function " + maker.name() + " returned an invalid gradient at index " + std::to_string(result) +
                      " - got " + device::to_string(gradient.sizes()) + " but expected shape compatible with " +
                      device::to_string(wanted.sizes));
    }
    gradient = tensor::sum_to_size(gradient, wanted.sizes);
  }
  if (gradient.dtype() != wanted.dtype) gradient = tensor::to(gradient, wanted.dtype);
  if (gradient.device() != wanted.device) gradient = tensor::to(gradient, wanted.device);
}

Tensor sum_of(Tensor first, Tensor second) {
  if (first.is_sparse() && !second.is_sparse()) std::swap(first, second);
  // Gradients that were broadcast (expanded) overlap in memory, and can't be added to.
  const bool in_place = is_alone(first) && first.is_contiguous() && !second.is_sparse();
  if (!in_place) return tensor::add(first, second);
  tensor::add_(first, second);
  return first;
}

std::string why_unfit(const Node& node, const Gradients& gradients) {
  if (gradients.size() != node.inputs().size()) {
    return "needs " + std::to_string(node.inputs().size()) + " gradients, and was fed " +
           std::to_string(gradients.size());
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Tensor& gradient = gradients[i];
    const InputMetadata& input = node.inputs()[i];
    if (!gradient.defined()) continue;
    const bool fits =
        gradient.sizes() == input.sizes && gradient.dtype() == input.dtype && gradient.device() == input.device;
    if (fits) continue;
    return "needs a gradient of " + std::string(name_of(input.dtype)) + " " + to_string(input.sizes) + " on " +
           to_string(input.device) + " for input " + std::to_string(i) + ", and was fed " + describe(gradient);
  }
  return "";
}

void order_streams(const Tensor& gradient, Stream reader) {
  if (gradient.device().is_cpu()) return;
  const Stream writer = device::current_stream(gradient.device());
  if (writer == reader) return;
  device::Event written;
  written.record(writer);
  written.block(reader);
  gradient.record_stream(reader);
}

}  // namespace distrun::autograd

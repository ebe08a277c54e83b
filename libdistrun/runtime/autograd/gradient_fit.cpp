#include <distrun/runtime/autograd/gradient_fit.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/accumulate_grad.hpp>
#include <distrun/runtime/autograd/gradient_streams.hpp>
#include <distrun/runtime/autograd/linear_map.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/reduce.hpp>

namespace distrun::autograd {
namespace {

// Returns whether `to` may have been broadcast to `from`.
bool can_sum_to(const Dims& from, const Dims& to) {
  if (to.size() > from.size()) return false;
  const std::size_t ahead = from.size() - to.size();
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] != 1 && to[i] != from[ahead + i]) return false;
  }
  return true;
}

bool is_alone(const Tensor& tensor) {
  return tensor.impl()->use_count() == 1 && !tensor.is_sparse() && tensor.strided().storage()->use_count() == 1 &&
         has_no_other_stream(tensor);
}

// The formula of a sum of two gradients.
struct AddGradientsBackward {
  static constexpr const char* kName = "AddBackward0";
  Gradients apply(const Node& node, Gradients gradients) {
    Gradients results(2);
    for (std::size_t i = 0; i < 2; ++i) {
      if (node.needs(i)) results[i] = gradients[0];
    }
    return results;
  }
};

}  // namespace

void fit(Tensor& gradient, const InputMetadata& wanted, const Node& maker, std::size_t result) {
  if (gradient.sizes() != wanted.sizes) {
    if (gradient.is_sparse() || !can_sum_to(gradient.sizes(), wanted.sizes)) {
      throw Error(ErrorKind::InvalidArgument,
                  "Function " + maker.name() + " returned an invalid gradient at index " + std::to_string(result) +
                      " - got " + device::to_string(gradient.sizes()) + " but expected shape compatible with " +
                      device::to_string(wanted.sizes));
    }
    gradient = summed_to_size(gradient, wanted.sizes);
  }
  gradient = converted(gradient, {wanted.dtype, wanted.device});
}

Tensor converted(const Tensor& gradient, const TensorOptions& wanted) {
  if (gradient.dtype() == wanted.dtype && gradient.device() == wanted.device) return gradient;
  return linear_map(
      "ToCopyBackward0", gradient,
      [wanted](const Tensor& x, const Tensor&) { return tensor::to(tensor::to(x, wanted.dtype), wanted.device); },
      [from = gradient.options()](const Tensor& x, const Tensor&) {
        return tensor::to(tensor::to(x, from.dtype), from.device);
      });
}

Tensor summed_to_size(const Tensor& gradient, const Dims& sizes) {
  return linear_map(
      "SumBackward1", gradient, [sizes](const Tensor& x, const Tensor&) { return tensor::sum_to_size(x, sizes); },
      [from = gradient.sizes()](const Tensor& x, const Tensor&) { return tensor::expand(x, from); });
}

Tensor sum_of(Tensor first, Tensor second) {
  if (needs_gradient(first, second)) {
    return with_history(tensor::add(first, second), record(AddGradientsBackward{}, first, second));
  }
  if (first.is_sparse() && !second.is_sparse()) std::swap(first, second);
  // Gradients that were broadcast (expanded) overlap in memory, so nothing can be added to them in place.
  const bool in_place = is_alone(first) && first.is_contiguous() && !second.is_sparse();
  if (!in_place) return tensor::add(first, second);
  tensor::add_(first, second);
  return first;
}

void accumulate_recorded(AccumulateGrad& leaf, const Tensor& gradient) {
  const auto copied = [](const Tensor& x, const Tensor&) { return tensor::clone(x); };
  leaf.replace([&](const Tensor& before) {
    return before.defined() ? sum_of(before, gradient) : linear_map("CloneBackward0", gradient, copied, copied);
  });
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

}  // namespace distrun::autograd

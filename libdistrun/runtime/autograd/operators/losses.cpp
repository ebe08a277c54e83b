#include <distrun/runtime/autograd/operators/losses.hpp>

#include <distrun/runtime/autograd/record.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/tensor/operators/softmax.hpp>

namespace distrun {
namespace {

using namespace autograd;

struct NllLossBackward {
  static constexpr const char* kName = "NllLossBackward0";
  Dims sizes;
  SavedTensor target, weight;
  std::int64_t ignore_index;
  Reduction reduction;

  Gradients apply(const Node& node, Gradients gradients) {
    const NllLossOptions options{weight.unpack(node), ignore_index, reduction};
    gradients[0] = tensor::nll_loss_gradient(gradients[0], sizes, target.unpack(node), options);
    return gradients;
  }
  void release() noexcept {
    target.release();
    weight.release();
  }
};

struct CrossEntropyBackward {
  static constexpr const char* kName = "CrossEntropyLossBackward0";
  SavedTensor logarithms, target, weight;
  std::int64_t ignore_index;
  Reduction reduction;
  double label_smoothing;

  Gradients apply(const Node& node, Gradients gradients) {
    const CrossEntropyOptions options{weight.unpack(node), ignore_index, reduction, label_smoothing};
    gradients[0] = tensor::cross_entropy_gradient(gradients[0], logarithms.unpack(node), target.unpack(node), options);
    return gradients;
  }
  void release() noexcept {
    for (SavedTensor* each : {&logarithms, &target, &weight}) each->release();
  }
};

}  // namespace

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const NllLossOptions& options) {
  const OperatorScope scope("nll_loss", log_probabilities, target, options.weight);
  Tensor result = tensor::nll_loss(log_probabilities, target, options);
  if (!needs_gradient(log_probabilities)) return result;
  NllLossBackward formula{log_probabilities.sizes(), SavedTensor(target), SavedTensor(options.weight),
                          options.ignore_index, options.reduction};
  return with_history(std::move(result), record(std::move(formula), log_probabilities));
}

Tensor cross_entropy(const Tensor& logits, const Tensor& target, const CrossEntropyOptions& options) {
  const OperatorScope scope("cross_entropy", logits, target, options.weight);
  if (!needs_gradient(logits)) return tensor::cross_entropy(logits, target, options);
  const Tensor logarithms = tensor::log_softmax(logits, tensor::class_dim(logits));
  Tensor result = tensor::cross_entropy_of_logarithms(logarithms, target, options);
  CrossEntropyBackward formula{SavedTensor(logarithms), SavedTensor(target), SavedTensor(options.weight),
                               options.ignore_index,    options.reduction,   options.label_smoothing};
  return with_history(std::move(result), record(std::move(formula), logits));
}

}  // namespace distrun

#include <distrun/runtime/autograd/operators/losses.hpp>

#include <distrun/runtime/autograd/operators/softmax_formulas.hpp>
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
    const auto run = [sizes = sizes, options](const Tensor& x, const Tensor& truth) {
      return tensor::nll_loss_gradient(x, sizes, truth, options);
    };
    const auto adjoint = [options](const Tensor& x, const Tensor& truth) {
      return tensor::nll_loss(x, truth, options);
    };
    gradients[0] = linear_map(kName, gradients[0], run, adjoint, target.unpack(node));
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
    const Tensor logs = logarithms.unpack(node), truth = target.unpack(node);
    gradients[0] = is_grad_enabled() ? recorded(node, gradients[0], logs, truth, options)
                                     : tensor::cross_entropy_gradient(gradients[0], logs, truth, options);
    return gradients;
  }
  void release() noexcept {
    for (SavedTensor* each : {&logarithms, &target, &weight}) each->release();
  }

 private:
  // The loss is linear in the logarithms, which have a separate node that leads to the input.
  static Tensor recorded(const Node& node, const Tensor& gradient, const Tensor& logs, const Tensor& truth,
                         const CrossEntropyOptions& options) {
    const auto run = [sizes = logs.sizes(), options](const Tensor& x, const Tensor& of) {
      return tensor::cross_entropy_gradient_of_logarithms(x, sizes, of, options);
    };
    const auto adjoint = [options](const Tensor& x, const Tensor& of) {
      return tensor::cross_entropy_of_logarithms(x, of, options);
    };
    const Tensor of_logs = linear_map(kName, gradient, run, adjoint, truth);
    const std::int64_t dim = tensor::class_dim(logs);
    return LogSoftmaxBackward::of(of_logs, with_maker(logs, node.next_edges()[0], dim), dim);
  }
  static Tensor with_maker(const Tensor& logs, const Edge& input, std::int64_t dim) {
    auto maker = make_node_for(LogSoftmaxBackward{SavedTensor::of_result(logs), dim});
    maker->add_next_edge(input);
    return with_history(tensor::alias(logs), std::move(maker));
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

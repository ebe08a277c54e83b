#include <distrun/runtime/autograd/operators/images.hpp>

#include <distrun/runtime/autograd/record.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/tensor/operators/reduce.hpp>

namespace distrun {
namespace {

using namespace autograd;

struct ConvolutionBackward {
  static constexpr const char* kName = "ConvolutionBackward0";
  Conv2dOptions options;
  Dims input_sizes, weight_sizes;
  SavedTensor input, weight;

  Gradients apply(const Node& node, Gradients gradients) {
    const Tensor& gradient = gradients[0];
    Gradients results(node.next_edges().size());
    if (node.needs(0)) {
      results[0] = tensor::conv2d_input_gradient(gradient, weight.unpack(node), input_sizes, options);
    }
    if (node.needs(1)) {
      results[1] = tensor::conv2d_weight_gradient(gradient, input.unpack(node), weight_sizes, options);
    }
    if (node.needs(2)) results[2] = tensor::sum(gradient, {0, 2, 3});
    return results;
  }
  void release() noexcept {
    input.release();
    weight.release();
  }
};

struct MaxPool2dBackward {
  static constexpr const char* kName = "MaxPool2DWithIndicesBackward0";
  Dims input_sizes;
  SavedTensor indices;

  Gradients apply(const Node& node, Gradients gradients) {
    gradients[0] = tensor::max_pool2d_gradient(gradients[0], indices.unpack(node), input_sizes);
    return gradients;
  }
  void release() noexcept { indices.release(); }
};

}  // namespace

Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options) {
  const OperatorScope scope("conv2d", input, weight, bias);
  Tensor result = tensor::conv2d(input, weight, bias, options);
  if (!needs_gradient(input, weight, bias)) return result;
  ConvolutionBackward formula{options, input.sizes(), weight.sizes(), {}, {}};
  if (requires_grad(weight)) formula.input = SavedTensor(input);
  if (requires_grad(input)) formula.weight = SavedTensor(weight);
  auto node = record(std::move(formula), input, weight);
  if (bias.defined()) node->add_next_edge(gradient_edge(bias));
  return with_history(std::move(result), std::move(node));
}

Tensor max_pool2d(const Tensor& input, const Pool2dOptions& options) {
  const OperatorScope scope("max_pool2d", input);
  tensor::Pooled pooled = tensor::max_pool2d(input, options);
  if (!needs_gradient(input)) return pooled.values;
  MaxPool2dBackward formula{input.sizes(), SavedTensor(pooled.indices)};
  return with_history(std::move(pooled.values), record(std::move(formula), input));
}

}  // namespace distrun

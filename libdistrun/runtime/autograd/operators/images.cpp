#include <distrun/runtime/autograd/operators/images.hpp>

#include <distrun/runtime/autograd/operators/formula_operators.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/tensor/operators/reduce.hpp>

namespace distrun {
namespace {

using namespace autograd;

// A convolution is linear in the image and in the weight, and so are the gradients: each is computed from two of image,
// weight and result's gradient. The gradients of these are computed from the other two.
Tensor input_gradient(const Tensor& gradient, const Tensor& weight, const Dims& input_sizes,
                      const Conv2dOptions& options);
Tensor weight_gradient(const Tensor& gradient, const Tensor& input, const Dims& weight_sizes,
                       const Conv2dOptions& options);

struct InputGradientBackward {
  static constexpr const char* kName = "ConvolutionBackwardBackward0";
  Conv2dOptions options;
  SavedTensor gradient, weight;

  Gradients apply(const Node& node, Gradients gradients) {
    Gradients results(2);
    const Tensor kernel = weight.unpack(node);
    if (node.needs(0)) results[0] = distrun::conv2d(gradients[0], kernel, Tensor(), options);
    if (node.needs(1)) results[1] = weight_gradient(gradient.unpack(node), gradients[0], kernel.sizes(), options);
    return results;
  }
  void release() noexcept {
    gradient.release();
    weight.release();
  }
};

struct WeightGradientBackward {
  static constexpr const char* kName = "ConvolutionBackwardBackward0";
  Conv2dOptions options;
  SavedTensor gradient, input;

  Gradients apply(const Node& node, Gradients gradients) {
    Gradients results(2);
    const Tensor image = input.unpack(node);
    if (node.needs(0)) results[0] = distrun::conv2d(image, gradients[0], Tensor(), options);
    if (node.needs(1)) results[1] = input_gradient(gradient.unpack(node), gradients[0], image.sizes(), options);
    return results;
  }
  void release() noexcept {
    gradient.release();
    input.release();
  }
};

Tensor input_gradient(const Tensor& gradient, const Tensor& weight, const Dims& input_sizes,
                      const Conv2dOptions& options) {
  Tensor result = tensor::conv2d_input_gradient(gradient, weight, input_sizes, options);
  if (!needs_gradient(gradient, weight)) return result;
  InputGradientBackward formula{options, SavedTensor(gradient), SavedTensor(weight)};
  return with_history(std::move(result), record(std::move(formula), gradient, weight));
}

Tensor weight_gradient(const Tensor& gradient, const Tensor& input, const Dims& weight_sizes,
                       const Conv2dOptions& options) {
  Tensor result = tensor::conv2d_weight_gradient(gradient, input, weight_sizes, options);
  if (!needs_gradient(gradient, input)) return result;
  WeightGradientBackward formula{options, SavedTensor(gradient), SavedTensor(input)};
  return with_history(std::move(result), record(std::move(formula), gradient, input));
}

struct ConvolutionBackward {
  static constexpr const char* kName = "ConvolutionBackward0";
  Conv2dOptions options;
  Dims input_sizes, weight_sizes;
  SavedTensor input, weight;

  Gradients apply(const Node& node, Gradients gradients) {
    const Tensor& gradient = gradients[0];
    Gradients results(node.next_edges().size());
    if (node.needs(0)) results[0] = input_gradient(gradient, weight.unpack(node), input_sizes, options);
    if (node.needs(1)) results[1] = weight_gradient(gradient, input.unpack(node), weight_sizes, options);
    if (node.needs(2)) results[2] = formula::sum(gradient, Dims{0, 2, 3});
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
    const auto run = [sizes = input_sizes](const Tensor& x, const Tensor& places) {
      return tensor::max_pool2d_gradient(x, places, sizes);
    };
    const auto adjoint = [](const Tensor& x, const Tensor& places) {
      return tensor::reshape(tensor::gather(rows_of(x), 1, rows_of(places)), places.sizes());
    };
    gradients[0] = linear_map(kName, gradients[0], run, adjoint, indices.unpack(node));
    return gradients;
  }
  void release() noexcept { indices.release(); }

 private:
  // Reshapes to one row for each plane.
  static Tensor rows_of(const Tensor& images) {
    const std::int64_t planes = images.size(0) * images.size(1);
    return tensor::reshape(images, {planes, images.size(2) * images.size(3)});
  }
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

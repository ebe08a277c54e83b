#include <distrun/runtime/nn/layers.hpp>

#include <cmath>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>

namespace distrun::nn {
namespace {

void check_positive(const char* module, const char* what, std::int64_t value) {
  if (value > 0) return;
  throw Error(ErrorKind::InvalidArgument,
              std::string(module) + ": " + what + " must be at least 1, not " + std::to_string(value));
}

// Uniform in [-bound, bound).
Tensor uniform(const Dims& sizes, double bound) { return rand(sizes) * (2 * bound) - bound; }
double bound_of(std::int64_t inputs) { return 1 / std::sqrt(static_cast<double>(inputs)); }

}  // namespace

Linear::Linear(std::int64_t inputs, std::int64_t outputs, bool with_bias) : with_bias_(with_bias) {
  check_positive("Linear", "inputs", inputs);
  check_positive("Linear", "outputs", outputs);
  add_parameter("weight", uniform({outputs, inputs}, bound_of(inputs)));
  if (with_bias) add_parameter("bias", uniform({outputs}, bound_of(inputs)));
}

Tensor Linear::forward(const Tensor& input) { return linear(input, weight(), bias()); }

Conv2d::Conv2d(std::int64_t in_channels, std::int64_t out_channels, std::int64_t window, std::int64_t stride,
               std::int64_t padding, bool with_bias)
    : options_{{stride, stride}, {padding, padding}}, with_bias_(with_bias) {
  check_positive("Conv2d", "in_channels", in_channels);
  check_positive("Conv2d", "out_channels", out_channels);
  check_positive("Conv2d", "window", window);
  const double bound = bound_of(in_channels * window * window);
  add_parameter("weight", uniform({out_channels, in_channels, window, window}, bound));
  if (with_bias) add_parameter("bias", uniform({out_channels}, bound));
}

Tensor Conv2d::forward(const Tensor& input) { return conv2d(input, weight(), bias(), options_); }

MaxPool2d::MaxPool2d(std::int64_t window, std::int64_t stride) : options_{{window, window}, {stride, stride}, {0, 0}} {}
Tensor MaxPool2d::forward(const Tensor& input) { return max_pool2d(input, options_); }

Tensor Flatten::forward(const Tensor& input) { return flatten(input, first_, last_); }

Sequential::Sequential(const std::vector<std::shared_ptr<Module>>& layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) add_part(std::to_string(i), layers[i]);
}

Tensor Sequential::forward(const Tensor& input) {
  Tensor value = input;
  for (const auto& [name, layer] : parts()) value = layer->forward(value);
  return value;
}

Embedding::Embedding(std::int64_t rows, std::int64_t width) {
  check_positive("Embedding", "rows", rows);
  check_positive("Embedding", "width", width);
  add_parameter("weight", randn({rows, width}));
}

// Uses bags with one index each.
Tensor Embedding::forward(const Tensor& input) {
  tensor::check_defined("Embedding", {&input});
  const Tensor bags = arange(input.numel(), input.device());
  const Tensor rows = embedding_bag(weight(), {reshape(input, {input.numel()}), bags, BagMode::Sum, {}});
  Dims sizes = input.sizes();
  sizes.push_back(weight().size(1));
  return reshape(rows, sizes);
}

EmbeddingBag::EmbeddingBag(std::int64_t rows, std::int64_t width, Options options) : options_(options) {
  check_positive("EmbeddingBag", "rows", rows);
  check_positive("EmbeddingBag", "width", width);
  add_parameter("weight", randn({rows, width}));
}

Tensor EmbeddingBag::forward(const Tensor& input) {
  tensor::check_defined("EmbeddingBag", {&input});
  if (input.dim() != 2) {
    throw Error(ErrorKind::InvalidArgument,
                "EmbeddingBag: without offsets, indices must be [bags, n], not " + device::to_string(input.sizes()));
  }
  const Tensor offsets = mul(arange(input.size(0), input.device()), input.size(1));
  return forward(reshape(input, {input.numel()}), offsets);
}

Tensor EmbeddingBag::forward(const Tensor& indices, const Tensor& offsets, const Tensor& factors) {
  return embedding_bag(weight(), {indices, offsets, options_.mode, factors}, options_.sparse);
}

}  // namespace distrun::nn

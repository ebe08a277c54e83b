#include <distrun/runtime/autograd/operators/normalization.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/record.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/layer_norm.hpp>
#include <distrun/runtime/tensor/operators/softmax.hpp>

namespace distrun {
namespace {

using namespace autograd;
namespace plain = tensor::plain;

struct SoftmaxBackward {
  static constexpr const char* kName = "SoftmaxBackward0";
  SavedTensor result;
  std::int64_t dim;

  Gradients apply(const Node& node, Gradients gradients) {
    gradients[0] = plain::softmax_gradient(gradients[0], result.unpack(node), dim);
    return gradients;
  }
  void release() noexcept { result.release(); }
};

struct LogSoftmaxBackward {
  static constexpr const char* kName = "LogSoftmaxBackward0";
  SavedTensor result;
  std::int64_t dim;

  Gradients apply(const Node& node, Gradients gradients) {
    gradients[0] = plain::log_softmax_gradient(gradients[0], result.unpack(node), dim);
    return gradients;
  }
  void release() noexcept { result.release(); }
};

// Of input, weight and bias.
struct LayerNormBackward {
  static constexpr const char* kName = "NativeLayerNormBackward0";
  SavedTensor input, mean, inverse, weight;
  Dims sizes;

  Gradients apply(const Node& node, Gradients gradients) {
    tensor::LayerNormGradients found =
        plain::layer_norm_gradients(gradients[0], input.unpack(node), mean.unpack(node), inverse.unpack(node), sizes,
                                    weight.unpack(node), {node.needs(0), node.needs(1), node.needs(2)});
    Gradients results(3);
    results[0] = std::move(found.input);
    results[1] = std::move(found.weight);
    results[2] = std::move(found.bias);
    return results;
  }
  void release() noexcept {
    for (SavedTensor* each : {&input, &mean, &inverse, &weight}) each->release();
  }
};

// Of input, weight and bias.
struct BatchNormBackward {
  static constexpr const char* kName = "NativeBatchNormBackward0";
  SavedTensor input, mean, variance, inverse, weight;
  MomentsOrigin origin;

  Gradients apply(const Node& node, Gradients gradients) {
    const Tensor x = input.unpack(node), scale = inverse.unpack(node);
    const tensor::Moments moments{mean.unpack(node), variance.unpack(node)};
    tensor::ChannelSums sums = plain::channel_sums(gradients[0], x, moments.mean);
    Gradients results(3);
    if (node.needs(1)) results[1] = tensor::mul(sums.gradient_by_value, scale);
    if (node.needs(2)) results[2] = tensor::mul(sums.gradient, 1);
    // All ranks of the moments take part in the sums, whoever needs the result.
    const tensor::ChannelSums means = means_of(std::move(sums));
    if (node.needs(0)) {
      results[0] = plain::normalize_channels_gradient(gradients[0], x, moments, scale, weight.unpack(node), means);
    }
    return results;
  }
  void release() noexcept {
    for (SavedTensor* each : {&input, &mean, &variance, &inverse, &weight}) each->release();
  }

 private:
  tensor::ChannelSums means_of(tensor::ChannelSums sums) const {
    if (origin.count <= 0) return {};
    if (origin.add_up) origin.add_up({sums.gradient, sums.gradient_by_value});
    return {tensor::div(sums.gradient, origin.count), tensor::div(sums.gradient_by_value, origin.count)};
  }
};

// Weight and bias may be undefined.
template <class Formula>
Tensor recorded(Tensor result, Formula formula, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  auto node = make_node_for(std::move(formula));
  for (const Tensor* each : {&input, &weight, &bias}) {
    node->add_next_edge(each->defined() ? gradient_edge(*each) : Edge());
  }
  return with_history(std::move(result), std::move(node));
}

}  // namespace

Tensor softmax(const Tensor& tensor, std::int64_t dim) {
  const OperatorScope scope("softmax", tensor);
  Tensor result = plain::softmax(tensor, dim);
  if (!needs_gradient(tensor)) return result;
  auto node = record(SoftmaxBackward{SavedTensor(result, true), dim}, tensor);
  return with_history(std::move(result), std::move(node));
}

Tensor log_softmax(const Tensor& tensor, std::int64_t dim) {
  const OperatorScope scope("log_softmax", tensor);
  Tensor result = plain::log_softmax(tensor, dim);
  if (!needs_gradient(tensor)) return result;
  auto node = record(LogSoftmaxBackward{SavedTensor(result, true), dim}, tensor);
  return with_history(std::move(result), std::move(node));
}

Tensor layer_norm(const Tensor& input, const Dims& sizes, const Tensor& weight, const Tensor& bias, double epsilon) {
  const OperatorScope scope("layer_norm", input, weight, bias);
  tensor::LayerNormalized normal = plain::layer_norm(input, sizes, weight, bias, epsilon);
  if (!needs_gradient(input, weight, bias)) return normal.result;
  LayerNormBackward formula{SavedTensor(input), SavedTensor(normal.mean), SavedTensor(normal.inverse),
                            SavedTensor(weight), sizes};
  return recorded(std::move(normal.result), std::move(formula), input, weight, bias);
}

Tensor batch_norm(const Tensor& input, const tensor::Moments& moments, const Tensor& weight, const Tensor& bias,
                  double epsilon, MomentsOrigin origin) {
  const OperatorScope scope("batch_norm", input);
  const Tensor inverse = plain::inverse_deviation(moments.variance, epsilon);
  Tensor result = plain::normalize_channels(input, moments.mean, inverse, weight, bias);
  if (!needs_gradient(input, weight, bias)) return result;
  BatchNormBackward formula{SavedTensor(input),   SavedTensor(moments.mean), SavedTensor(moments.variance),
                            SavedTensor(inverse), SavedTensor(weight),       std::move(origin)};
  return recorded(std::move(result), std::move(formula), input, weight, bias);
}

Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, double epsilon) {
  const tensor::CalledOperator called("batch_norm");
  const tensor::Moments moments = plain::channel_moments(input);
  const std::int64_t channels = input.size(1);
  const auto count = static_cast<double>(channels == 0 ? 0 : input.numel() / channels);
  return batch_norm(input, moments, weight, bias, epsilon, {.count = count});
}

}  // namespace distrun

#include <distrun/runtime/autograd/operators/normalization.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/operators/softmax_formulas.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/layer_norm.hpp>
#include <distrun/runtime/tensor/operators/softmax.hpp>

namespace distrun {
namespace {

using namespace autograd;
namespace plain = tensor::plain;

// A recorded normalisation over some dimensions. Recomputes from the input the values that the kernels of the first
// gradient are given, so that gradients pass through them.
struct Normalized {
  Normalized(const Tensor& x, Dims over, double epsilon)
      : dims(std::move(over)), distance(formula::sub(x, formula::mean(x, dims, true))) {
    const Tensor variance = formula::mean(formula::square(distance), dims, true);
    inverse = formula::rsqrt(formula::add(variance, epsilon));
    value = formula::mul(distance, inverse);
  }

  // Returns the input's gradient from `gradient`, that of `value`.
  Tensor input_gradient(const Tensor& gradient) const {
    const Tensor along = formula::mul(value, formula::mean(formula::mul(gradient, value), dims, true));
    return formula::mul(inverse, formula::sub(formula::sub(gradient, formula::mean(gradient, dims, true)), along));
  }

  Dims dims;
  Tensor distance, inverse, value;
};

Tensor weighted(const Tensor& gradient, const Tensor& weight) {
  return weight.defined() ? formula::mul(gradient, weight) : gradient;
}

// The gradients of input, weight and bias.
struct LayerNormBackward {
  static constexpr const char* kName = "NativeLayerNormBackward0";
  SavedTensor input, mean, inverse, weight;
  Dims sizes;
  double epsilon;

  Gradients apply(const Node& node, Gradients gradients) {
    if (is_grad_enabled()) return apply_recorded(node, gradients[0]);
    tensor::LayerNormGradients found =
        plain::layer_norm_gradients(gradients[0], input.unpack(node), mean.unpack(node), inverse.unpack(node), sizes,
                                    weight.unpack(node), {node.needs(0), node.needs(1), node.needs(2)});
    Gradients results(node.next_edges().size());
    Tensor* const each[] = {&found.input, &found.weight, &found.bias};
    for (std::size_t i = 0; i < results.size(); ++i) results[i] = std::move(*each[i]);
    return results;
  }
  void release() noexcept {
    for (SavedTensor* each : {&input, &mean, &inverse, &weight}) each->release();
  }

 private:
  // Those of weight and bias are summed on delivery.
  Gradients apply_recorded(const Node& node, const Tensor& gradient) const {
    const Tensor x = input.unpack(node);
    Dims dims;
    for (std::size_t i = 0; i < sizes.size(); ++i) dims.push_back(-1 - static_cast<std::int64_t>(i));
    const Normalized normal(x, dims, epsilon);
    Gradients results(node.next_edges().size());
    if (node.needs(0)) results[0] = normal.input_gradient(weighted(gradient, weight.unpack(node)));
    if (node.needs(1)) results[1] = formula::mul(gradient, normal.value);
    if (node.needs(2)) results[2] = gradient;
    return results;
  }
};

// The gradients of input, weight and bias.
struct BatchNormBackward {
  static constexpr const char* kName = "NativeBatchNormBackward0";
  SavedTensor input, mean, variance, inverse, weight;
  MomentsOrigin origin;
  double epsilon;

  Gradients apply(const Node& node, Gradients gradients) {
    if (is_grad_enabled()) return apply_recorded(node, gradients[0]);
    const Tensor x = input.unpack(node), scale = inverse.unpack(node);
    const tensor::Moments moments{mean.unpack(node), variance.unpack(node)};
    tensor::ChannelSums sums = plain::channel_sums(gradients[0], x, moments.mean);
    Gradients results(node.next_edges().size());
    if (node.needs(1)) results[1] = tensor::mul(sums.gradient_by_value, scale);
    if (node.needs(2)) results[2] = tensor::mul(sums.gradient, 1);
    // All ranks of the moments take part in the sums, whether or not they need the result.
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
  Gradients apply_recorded(const Node& node, const Tensor& gradient) const {
    if (origin.add_up) formula::refuse_recording(node, "through moments of several ranks");
    const Tensor x = input.unpack(node);
    Dims dims, of_channels;
    for (std::int64_t i = 0; i < x.dim(); ++i) {
      if (i != 1) dims.push_back(i);
      of_channels.push_back(i == 1 ? x.size(1) : 1);
    }
    const auto channels = [&](const Tensor& each) {
      return each.defined() ? formula::reshape(each, of_channels) : each;
    };
    const Tensor of_value = weighted(gradient, channels(weight.unpack(node)));
    Tensor of_input, value;
    if (origin.count > 0) {
      const Normalized normal(x, dims, epsilon);
      of_input = normal.input_gradient(of_value);
      value = normal.value;
    } else {
      const Tensor scale = channels(inverse.unpack(node));
      of_input = formula::mul(of_value, scale);
      value = formula::mul(formula::sub(x, channels(mean.unpack(node))), scale);
    }
    Gradients results(node.next_edges().size());
    if (node.needs(0)) results[0] = of_input;
    if (node.needs(1)) results[1] = formula::sum(formula::mul(gradient, value), dims);
    if (node.needs(2)) results[2] = formula::sum(gradient, dims);
    return results;
  }
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
  auto node = record(SoftmaxBackward{SavedTensor::of_result(result), dim}, tensor);
  return with_history(std::move(result), std::move(node));
}

Tensor log_softmax(const Tensor& tensor, std::int64_t dim) {
  const OperatorScope scope("log_softmax", tensor);
  Tensor result = plain::log_softmax(tensor, dim);
  if (!needs_gradient(tensor)) return result;
  auto node = record(LogSoftmaxBackward{SavedTensor::of_result(result), dim}, tensor);
  return with_history(std::move(result), std::move(node));
}

Tensor layer_norm(const Tensor& input, const Dims& sizes, const Tensor& weight, const Tensor& bias, double epsilon) {
  const OperatorScope scope("layer_norm", input, weight, bias);
  tensor::LayerNormalized normal = plain::layer_norm(input, sizes, weight, bias, epsilon);
  if (!needs_gradient(input, weight, bias)) return normal.result;
  LayerNormBackward formula{
      SavedTensor(input), SavedTensor(normal.mean), SavedTensor(normal.inverse), SavedTensor(weight), sizes, epsilon};
  return recorded(std::move(normal.result), std::move(formula), input, weight, bias);
}

Tensor batch_norm(const Tensor& input, const tensor::Moments& moments, const Tensor& weight, const Tensor& bias,
                  double epsilon, MomentsOrigin origin) {
  const OperatorScope scope("batch_norm", input);
  const Tensor inverse = plain::inverse_deviation(moments.variance, epsilon);
  Tensor result = plain::normalize_channels(input, moments.mean, inverse, weight, bias);
  if (!needs_gradient(input, weight, bias)) return result;
  BatchNormBackward formula{SavedTensor(input),
                            SavedTensor(moments.mean),
                            SavedTensor(moments.variance),
                            SavedTensor(inverse),
                            SavedTensor(weight),
                            std::move(origin),
                            epsilon};
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

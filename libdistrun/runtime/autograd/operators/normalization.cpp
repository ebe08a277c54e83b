#include <distrun/runtime/autograd/operators/normalization.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/record.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>

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

}  // namespace

Tensor softmax(const Tensor& tensor, std::int64_t dim) {
  const OperatorScope scope("softmax", tensor);
  Tensor result = plain::softmax(tensor, dim);
  if (!needs_gradient(tensor)) return result;
  auto node = record(SoftmaxBackward{SavedTensor(result, true), dim}, tensor);
  return with_history(std::move(result), std::move(node));
}

Tensor batch_norm(const Tensor& input, const tensor::Moments& moments, const Tensor& weight, const Tensor& bias,
                  double epsilon, MomentsOrigin origin) {
  const OperatorScope scope("batch_norm", input);
  const Tensor inverse = plain::inverse_deviation(moments.variance, epsilon);
  Tensor result = plain::normalize_channels(input, moments.mean, inverse, weight, bias);
  const auto needs = [](const Tensor& each) { return each.defined() && needs_gradient(each); };
  if (!needs(input) && !needs(weight) && !needs(bias)) return result;
  BatchNormBackward formula{SavedTensor(input),   SavedTensor(moments.mean), SavedTensor(moments.variance),
                            SavedTensor(inverse), SavedTensor(weight),       std::move(origin)};
  auto node = make_node_for(std::move(formula));
  for (const Tensor* each : {&input, &weight, &bias}) {
    node->add_next_edge(each->defined() ? gradient_edge(*each) : Edge());
  }
  return with_history(std::move(result), std::move(node));
}

Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, double epsilon) {
  const tensor::Moments moments = plain::channel_moments(input);
  const std::int64_t channels = input.size(1);
  const auto count = static_cast<double>(channels == 0 ? 0 : input.numel() / channels);
  return batch_norm(input, moments, weight, bias, epsilon, {.count = count});
}

}  // namespace distrun

#include "golden_operators.hpp"

#include <distrun/runtime/tensor/closeness.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {
namespace {

std::array<std::int64_t, 2> pair_of(const GoldenCase& c, const std::string& key) {
  const std::vector<double>& numbers = c.numbers.at(key);
  return {static_cast<std::int64_t>(numbers.at(0)), static_cast<std::int64_t>(numbers.at(1))};
}

Conv2dOptions conv_options(const GoldenCase& c) { return {pair_of(c, "stride"), pair_of(c, "padding")}; }

Dims dims_of(const GoldenCase& c) {
  Dims dims;
  for (const double dim : c.numbers.at("dims")) dims.push_back(static_cast<std::int64_t>(dim));
  return dims;
}

GoldenResults convolution_gradients(const GoldenCase& c) {
  return {{"of_x", conv2d_input_gradient(c["gradient"], c["weight"], c["x"].sizes(), conv_options(c))},
          {"of_weight", conv2d_weight_gradient(c["gradient"], c["x"], c["weight"].sizes(), conv_options(c))}};
}

GoldenResults bag_results(const GoldenCase& c, BagMode mode) {
  const Bags bags{c["indices"], c["offsets"], mode, mode == BagMode::Sum ? c["weights"] : Tensor()};
  const std::int64_t rows = c["table"].size(0);
  GoldenResults results{{"result", embedding_bag(c["table"], bags)},
                        {"of_table", embedding_bag_gradient(c["gradient"], bags, rows)}};
  if (mode == BagMode::Sum) results["of_weights"] = embedding_bag_weights_gradient(c["gradient"], c["table"], bags);
  return results;
}

GoldenResults softmax_results(const GoldenCase& c) {
  const auto dim = static_cast<std::int64_t>(c.numbers.at("dim").at(0));
  const Tensor result = plain::softmax(c["x"], dim);
  return {{"result", result}, {"of_x", plain::softmax_gradient(c["gradient"], result, dim)}};
}

GoldenResults log_softmax_results(const GoldenCase& c) {
  const auto dim = static_cast<std::int64_t>(c.numbers.at("dim").at(0));
  const Tensor result = plain::log_softmax(c["x"], dim);
  return {{"result", result}, {"of_x", plain::log_softmax_gradient(c["gradient"], result, dim)}};
}

GoldenResults layer_norm_results(const GoldenCase& c) {
  const Dims sizes = c["weight"].sizes();
  const LayerNormalized normal =
      plain::layer_norm(c["x"], sizes, c["weight"], c["bias"], c.numbers.at("epsilon").at(0));
  const LayerNormGradients gradients =
      plain::layer_norm_gradients(c["gradient"], c["x"], normal.mean, normal.inverse, sizes, c["weight"], {});
  return {{"result", normal.result},
          {"of_x", gradients.input},
          {"of_weight", gradients.weight},
          {"of_bias", gradients.bias}};
}

CrossEntropyOptions loss_options(const GoldenCase& c) {
  return {c["weight"], static_cast<std::int64_t>(c.numbers.at("ignored").at(0)),
          static_cast<Reduction>(c.numbers.at("reduction").at(0)), c.numbers.at("smoothing").at(0)};
}

GoldenResults cross_entropy_results(const GoldenCase& c) {
  const CrossEntropyOptions options = loss_options(c);
  const Tensor logarithms = plain::log_softmax(c["x"], 1);
  return {{"result", plain::cross_entropy(c["x"], c["target"], options)},
          {"of_x", plain::cross_entropy_gradient(c["gradient"], logarithms, c["target"], options)}};
}

GoldenResults nll_loss_results(const GoldenCase& c) {
  const CrossEntropyOptions all = loss_options(c);
  const NllLossOptions options{all.weight, all.ignore_index, all.reduction};
  return {{"result", plain::nll_loss(c["x"], c["target"], options)},
          {"of_x", plain::nll_loss_gradient(c["gradient"], c["x"].sizes(), c["target"], options)}};
}

GoldenResults batch_norm_results(const GoldenCase& c) {
  const Tensor x = c["x"], gradient = c["gradient"], weight = c["weight"];
  const Moments moments = plain::channel_moments(x);
  const Tensor inverse = plain::inverse_deviation(moments.variance, c.numbers.at("epsilon").at(0));
  const ChannelSums sums = plain::channel_sums(gradient, x, moments.mean);
  const auto count = x.numel() / x.size(1);
  const ChannelSums means{plain::div(sums.gradient, count), plain::div(sums.gradient_by_value, count)};
  return {{"mean", moments.mean},
          {"variance", moments.variance},
          {"result", plain::normalize_channels(x, moments.mean, inverse, weight, c["bias"])},
          {"of_x", plain::normalize_channels_gradient(gradient, x, moments, inverse, weight, means)},
          {"of_weight", plain::mul(sums.gradient_by_value, inverse)},
          {"of_bias", sums.gradient}};
}

GoldenCompute one(std::function<Tensor(const GoldenCase&)> compute) {
  return [compute = std::move(compute)](const GoldenCase& c) { return GoldenResults{{"result", compute(c)}}; };
}

using C = const GoldenCase&;

std::map<std::string, GoldenCompute> elementwise_operators() {
  return {
      {"add", one([](C c) { return add(c["a"], c["b"]); })},
      {"sub", one([](C c) { return sub(c["a"], c["b"]); })},
      {"mul", one([](C c) { return mul(c["a"], c["b"]); })},
      {"div", one([](C c) { return div(c["a"], c["b"]); })},
      {"add_alpha", one([](C c) { return add(c["a"], c["b"], c.numbers.at("alpha")[0]); })},
      {"cos", one([](C c) { return cos(c["a"]); })},
      {"sin", one([](C c) { return sin(c["a"]); })},
      {"neg", one([](C c) { return neg(c["a"]); })},
      {"relu", one([](C c) { return relu(c["a"]); })},
      {"sigmoid", one([](C c) { return sigmoid(c["a"]); })},
      {"clamp_min", one([](C c) { return clamp_min(c["a"], c.numbers.at("least")[0]); })},
      {"exp", one([](C c) { return exp(c["a"]); })},
      {"tanh", one([](C c) { return tanh(c["a"]); })},
      {"abs", one([](C c) { return abs(c["a"]); })},
      {"square", one([](C c) { return square(c["a"]); })},
      {"reciprocal", one([](C c) { return reciprocal(c["a"]); })},
      {"log", one([](C c) { return log(c["a"]); })},
      {"sqrt", one([](C c) { return sqrt(c["a"]); })},
      {"rsqrt", one([](C c) { return rsqrt(c["a"]); })},
      {"pow", one([](C c) { return pow(c["a"], c["b"]); })},
      {"pow_number", one([](C c) { return pow(c["a"], c.numbers.at("exponent")[0]); })},
      {"number_pow", one([](C c) { return pow(c.numbers.at("base")[0], c["b"]); })},
      {"maximum", one([](C c) { return maximum(c["a"], c["b"]); })},
      {"minimum", one([](C c) { return minimum(c["a"], c["b"]); })},
      {"clamp", one([](C c) { return clamp(c["a"], c.numbers.at("bounds")[0], c.numbers.at("bounds")[1]); })},
      {"where_greater", one([](C c) { return where(gt(c["a"], c["b"]), c["a"], 0.25); })},
  };
}

std::map<std::string, GoldenCompute> reductions_and_picks() {
  return {
      {"sum", one([](C c) { return sum(c["a"]); })},
      {"mean", one([](C c) { return mean(c["a"]); })},
      {"sum_dims", one([](C c) { return sum(c["a"], dims_of(c)); })},
      {"mse_loss", one([](C c) { return mse_loss(c["a"], c["b"]); })},
      {"amax", one([](C c) { return amax(c["a"], dims_of(c)); })},
      {"amin", one([](C c) { return amin(c["a"], dims_of(c)); })},
      {"mean_dims", one([](C c) { return mean(c["a"], dims_of(c)); })},
      {"var", one([](C c) { return var(c["a"], dims_of(c)); })},
      {"norm", one([](C c) { return norm(c["a"], 2, dims_of(c)); })},
      {"argmax", one([](C c) { return argmax(c["a"], dims_of(c)[0]); })},
      {"cumsum", one([](C c) { return cumsum(c["a"], dims_of(c)[0]); })},
      {"prod", one([](C c) { return prod(c["a"], dims_of(c)[0]); })},
      {"gather", one([](C c) { return gather(c["a"], dims_of(c)[0], c["index"]); })},
      {"scatter_add", one([](C c) { return scatter_add(c["a"], dims_of(c)[0], c["index"], c["source"]); })},
      {"index_select", one([](C c) { return index_select(c["a"], dims_of(c)[0], c["index"]); })},
      {"index_add", one([](C c) { return index_add(c["a"], dims_of(c)[0], c["index"], c["source"]); })},
  };
}

std::map<std::string, GoldenCompute> products_and_layers() {
  return {
      {"matmul", one([](C c) { return matmul(c["a"], c["b"]); })},
      {"multi_dot", one([](C c) {
         return multi_dot({c["a"], c["b"], c["c"]});
       })},
      {"linear", one([](C c) { return linear(c["x"], c["weight"], c["bias"]); })},
      {"conv2d", one([](C c) { return conv2d(c["x"], c["weight"], c["bias"], conv_options(c)); })},
      {"conv2d_gradients", convolution_gradients},
      {"max_pool2d", one([](C c) {
         return max_pool2d(c["x"], {pair_of(c, "window"), pair_of(c, "stride"), pair_of(c, "padding")}).values;
       })},
      {"softmax", softmax_results},
      {"log_softmax", log_softmax_results},
      {"layer_norm", layer_norm_results},
      {"cross_entropy", cross_entropy_results},
      {"nll_loss", nll_loss_results},
      {"batch_norm", batch_norm_results},
      {"embedding_bag_sum", [](C c) { return bag_results(c, BagMode::Sum); }},
      {"embedding_bag_mean", [](C c) { return bag_results(c, BagMode::Mean); }},
  };
}

}  // namespace

const std::map<std::string, GoldenCompute>& golden_operators() {
  static const std::map<std::string, GoldenCompute> all = [] {
    std::map<std::string, GoldenCompute> operators = elementwise_operators();
    operators.merge(reductions_and_picks());
    operators.merge(products_and_layers());
    return operators;
  }();
  return all;
}

}  // namespace distrun::tensor

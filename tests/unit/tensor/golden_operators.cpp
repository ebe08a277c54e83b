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

}  // namespace

const std::map<std::string, GoldenCompute>& golden_operators() {
  static const std::map<std::string, GoldenCompute> all{
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
      {"sum", one([](C c) { return sum(c["a"]); })},
      {"mean", one([](C c) { return mean(c["a"]); })},
      {"sum_dims", one([](C c) { return sum(c["a"], dims_of(c)); })},
      {"mse_loss", one([](C c) { return mse_loss(c["a"], c["b"]); })},
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
      {"batch_norm", batch_norm_results},
      {"embedding_bag_sum", [](C c) { return bag_results(c, BagMode::Sum); }},
      {"embedding_bag_mean", [](C c) { return bag_results(c, BagMode::Mean); }},
  };
  return all;
}

}  // namespace distrun::tensor

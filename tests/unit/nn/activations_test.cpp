// Functions between layers, and layer normalisation, as modules.
#include <catch2/catch.hpp>

#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/nn/layer_norm.hpp>
#include <distrun/runtime/nn/layers.hpp>
#include <distrun/runtime/tensor/closeness.hpp>
#include <distrun/runtime/tensor/ops.hpp>

#include "support/error_of.hpp"
#include "support/gpus.hpp"

namespace distrun {
namespace {

void check_near(const Tensor& actual, const Tensor& expected) {
  CHECK(tensor::difference(detach(actual), detach(expected)).value_or("") == "");
}

}  // namespace

TEST_CASE("activations are the operators of their names, along the given dimension") {
  const Tensor x = randn({3, 4});
  CHECK(equal(nn::ReLU()(x), relu(x)));
  CHECK(equal(nn::Tanh()(x), tanh(x)));
  CHECK(equal(nn::Sigmoid()(x), sigmoid(x)));
  for (const std::int64_t dim : {0, 1, -1}) {
    CHECK(equal(nn::Softmax(dim)(x), softmax(x, dim)));
    CHECK(equal(nn::LogSoftmax(dim)(x), log_softmax(x, dim)));
  }
  check_near(sum(nn::Softmax(0)(x), {0}), ones({4}));
  CHECK_THROWS_AS(nn::Softmax(2)(x), Error);
}

TEST_CASE("gradients go through activations in a network") {
  nn::Sequential net({std::make_shared<nn::Linear>(3, 4), std::make_shared<nn::Tanh>(),
                      std::make_shared<nn::LayerNorm>(Dims{4}), std::make_shared<nn::Sigmoid>(),
                      std::make_shared<nn::Dropout>(0.1), std::make_shared<nn::LogSoftmax>(1)});
  backward(sum(net(randn({5, 3})) * randn({5, 4})));
  for (const auto& [name, parameter] : net.named_parameters()) {
    INFO(name);
    CHECK(grad(parameter).defined());
  }
}

TEST_CASE("dropout drops and scales elements in training, and does nothing otherwise") {
  manual_seed(7);
  nn::Dropout layer(0.25);
  const Tensor x = set_requires_grad(ones({10'000}));
  const Tensor y = layer(x);
  const double kept = sum(ne(y, 0)).item_as<double>() / 10'000;
  CHECK(std::abs(kept - 0.75) < 0.03);
  check_near(y, ne(y, 0) * (1 / 0.75));
  backward(sum(y));
  CHECK(equal(grad(x), detach(y)));
  layer.train(false);
  CHECK(equal(layer(x), x));
  CHECK(equal(nn::Dropout(0)(x), x));
  CHECK(equal(nn::Dropout(1)(x), zeros({10'000})));
  nn::Sequential net({std::make_shared<nn::Dropout>()});
  CHECK_FALSE(equal(net(x), x));
  net.train(false);
  CHECK(equal(net(x), x));
}

TEST_CASE("an invalid probability is refused") {
  for (const double odd : {-0.1, 1.5, std::nan("")}) {
    const Error error = testing::error_of([odd] { nn::Dropout layer(odd); });
    CHECK(error.kind() == ErrorKind::InvalidArgument);
    CHECK_THAT(error.text(), Catch::StartsWith("dropout probability has to be between 0 and 1, but got "));
  }
}

// numpy: x = np.arange(6.0).reshape(2, 3) ** 2; (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) +
// 1e-5)
TEST_CASE("layer normalisation brings each sample to mean 0 and variance 1, and has a weight and a bias") {
  nn::LayerNorm layer(Dims{3});
  const Tensor x = from_values<float>({0, 1, 4, 9, 16, 25}, {2, 3});
  const Tensor normal =
      from_values<float>({-0.980579F, -0.392232F, 1.372811F, -1.170669F, -0.101797F, 1.272466F}, {2, 3});
  check_near(layer(x), normal);
  tensor::fill_(layer.weight(), 2);
  tensor::fill_(layer.bias(), -1);
  check_near(layer(x), normal * 2 - 1);
  layer.train(false);
  check_near(layer(x), normal * 2 - 1);
  CHECK(layer.named_parameters()[0].first == "weight");
  CHECK(layer.named_parameters()[1].first == "bias");
  nn::LayerNorm plain(Dims{2, 3}, {.affine = false});
  CHECK(plain.parameters().empty());
  check_near(mean(plain(x)), tensor::scalar_tensor(0.0));
}

TEST_CASE("layer normalisation refuses invalid sizes, and inputs of other sizes") {
  CHECK_THROWS_WITH(nn::LayerNorm(Dims{}), "LayerNorm: sizes must be at least one, each at least 1, not []");
  CHECK_THROWS_WITH(nn::LayerNorm(Dims{2, 0}), "LayerNorm: sizes must be at least one, each at least 1, not [2, 0]");
  CHECK_THROWS_WITH(nn::LayerNorm(Dims{2}, {.epsilon = 0}), Catch::Contains("epsilon must be above 0"));
  CHECK_THROWS_AS(nn::LayerNorm(Dims{3})(ones({2, 4})), Error);
}

TEST_CASE("activations and normalisation move with their network") {
  testing::use_gpus();
  nn::Sequential net({std::make_shared<nn::LayerNorm>(Dims{4}), std::make_shared<nn::Tanh>()});
  const Tensor x = randn({3, 4}), here = net(x);
  net.to(device::cuda(0));
  CHECK(equal(cpu(net(distrun::to(x, device::cuda(0)))), here));
}

}  // namespace distrun

#include <catch2/catch.hpp>

#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/nn/batch_norm.hpp>
#include <distrun/runtime/nn/layer_norm.hpp>
#include <distrun/runtime/nn/layers.hpp>
#include <distrun/runtime/nn/losses.hpp>

#include "support/gpus.hpp"

namespace distrun {
namespace {

using Layers = std::vector<std::shared_ptr<nn::Module>>;

nn::Sequential digits() {
  return nn::Sequential(Layers{
      std::make_shared<nn::Conv2d>(1, 16, 3), std::make_shared<nn::ReLU>(), std::make_shared<nn::Conv2d>(16, 32, 3),
      std::make_shared<nn::ReLU>(), std::make_shared<nn::MaxPool2d>(2), std::make_shared<nn::Flatten>(),
      std::make_shared<nn::Linear>(4608, 128), std::make_shared<nn::ReLU>(), std::make_shared<nn::Linear>(128, 10)});
}

std::vector<std::string> names_of(const nn::Module& module) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : module.named_parameters()) names.push_back(name);
  return names;
}

}  // namespace

TEST_CASE("parameters are listed in order, with the names of their parent modules") {
  const nn::Sequential net(Layers{std::make_shared<nn::Linear>(3, 4), std::make_shared<nn::ReLU>(),
                                  std::make_shared<nn::Linear>(4, 1, false)});
  CHECK(names_of(net) == std::vector<std::string>{"0.weight", "0.bias", "2.weight"});
  const TensorList parameters = net.parameters();
  CHECK(parameters[0].sizes() == Dims{4, 3});
  CHECK(parameters[1].sizes() == Dims{4});
  for (const Tensor& parameter : parameters) CHECK((requires_grad(parameter) && is_leaf(parameter)));
}

TEST_CASE("a linear layer is x w^T + b, and its weights are within their bounds") {
  nn::Linear layer(4, 2);
  const Tensor x = rand({3, 4});
  CHECK(equal(layer(x), matmul(x, t(layer.weight())) + layer.bias()));
  CHECK(equal(layer(x), linear(x, layer.weight(), layer.bias())));
  CHECK(all(le(layer.weight() * layer.weight(), 0.25)).item_as<bool>());
  CHECK_THROWS_WITH(nn::Linear(0, 1), "Linear: inputs must be at least 1, not 0");
}

TEST_CASE("the network for digits takes images, and every parameter gets a gradient") {
  nn::Sequential net = digits();
  const Tensor result = net(rand({2, 1, 28, 28}));
  CHECK(result.sizes() == Dims{2, 10});
  backward(nn::MSELoss()(result, zeros({2, 10})));
  for (const auto& [name, parameter] : net.named_parameters()) {
    INFO(name);
    REQUIRE(grad(parameter).defined());
    CHECK(grad(parameter).sizes() == parameter.sizes());
  }
  net.zero_grad();
  CHECK_FALSE(grad(net.parameters()[0]).defined());
}

TEST_CASE("an embedding table sums bags, with a dense or a sparse gradient") {
  const Tensor indices = tensor::from_values<std::int64_t>({1, 2, 4, 5, 4, 3, 2, 9});
  const Tensor offsets = tensor::from_values<std::int64_t>({0, 4});
  nn::EmbeddingBag table(10, 10, {BagMode::Sum, true});
  const Tensor bags = table.forward(indices, offsets, set_requires_grad(rand({8})));
  CHECK(bags.sizes() == Dims{2, 10});
  for (int pass = 0; pass < 2; ++pass) backward(sum(bags), {}, {.retain_graph = true});
  const Tensor gradient = grad(table.weight());
  CHECK(gradient.is_sparse());
  CHECK(nnz(coalesce(gradient)) == 6);
  nn::EmbeddingBag same(10, 10);
  CHECK(equal(same(view(indices, {2, 4})), same.forward(indices, offsets)));
  CHECK_THROWS_WITH(same(indices), Catch::Contains("indices must be [bags, n]"));
}

TEST_CASE("a module moves to a device with its gradients, and trains there") {
  testing::use_gpus();
  nn::Linear layer(3, 2);
  backward(sum(layer(ones({1, 3}))));
  const Tensor before = grad(layer.weight());
  layer.to(device::cuda(0));
  CHECK(layer.weight().device() == device::cuda(0));
  CHECK(requires_grad(layer.weight()));
  CHECK(equal(cpu(grad(layer.weight())), before));
  backward(sum(layer(ones({1, 3}, {DType::F32, device::cuda(0)}))));
  CHECK(equal(cpu(grad(layer.weight())), before * 2));
  CHECK(layer.is_training());
  layer.train(false);
  CHECK_FALSE(layer.is_training());
}

TEST_CASE("an embedding returns a row for each index") {
  nn::Embedding table(5, 3);
  const Tensor indices = from_values<std::int64_t>({4, 0, 4, 1}, {2, 2});
  const Tensor rows = table(indices);
  CHECK(rows.sizes() == Dims{2, 2, 3});
  for (std::int64_t i = 0; i < 3; ++i) {
    CHECK(to_vector<float>(detach(rows))[static_cast<std::size_t>(6 + i)] ==
          to_vector<float>(detach(table.weight()))[static_cast<std::size_t>(12 + i)]);
  }
  backward(sum(rows));
  CHECK(to_vector<float>(sum(grad(table.weight()), {1})) == std::vector<float>{3, 3, 0, 0, 6});
}

TEST_CASE("undefined tensors are refused by every layer and every loss") {
  const Tensor none, x = ones({1, 2});
  const Layers layers{std::make_shared<nn::Linear>(3, 2),
                      std::make_shared<nn::Conv2d>(1, 1, 1),
                      std::make_shared<nn::MaxPool2d>(2),
                      std::make_shared<nn::Flatten>(),
                      std::make_shared<nn::Embedding>(3, 2),
                      std::make_shared<nn::EmbeddingBag>(3, 2),
                      std::make_shared<nn::LayerNorm>(Dims{2}),
                      std::make_shared<nn::BatchNorm>(2),
                      std::make_shared<nn::ReLU>(),
                      std::make_shared<nn::Tanh>(),
                      std::make_shared<nn::Sigmoid>(),
                      std::make_shared<nn::Softmax>(0),
                      std::make_shared<nn::LogSoftmax>(0),
                      std::make_shared<nn::Dropout>()};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    INFO("layer " << i);
    for (const bool is_training : {true, false}) {
      layers[i]->train(is_training);
      CHECK_THROWS_WITH(layers[i]->forward(none), Catch::Contains("undefined"));
    }
  }
  CHECK_THROWS_WITH(nn::Embedding(3, 2)(none), "Embedding: a tensor is required, but one is undefined");
  nn::EmbeddingBag bags(3, 2);
  CHECK_THROWS_WITH(bags(none), "EmbeddingBag: a tensor is required, but one is undefined");
  for (const auto& [indices, offsets] : {std::pair(none, zeros({1}, DType::I64)), {zeros({1}, DType::I64), none}}) {
    CHECK_THROWS_WITH(bags.forward(indices, offsets), Catch::Contains("undefined"));
  }
  for (const auto& [input, target] : {std::pair(none, x), {x, none}, {none, none}}) {
    CHECK_THROWS_WITH(nn::MSELoss()(input, target), Catch::Contains("undefined"));
    CHECK_THROWS_WITH(nn::CrossEntropyLoss()(input, target), Catch::Contains("undefined"));
    CHECK_THROWS_WITH(nn::NLLLoss()(input, target), Catch::Contains("undefined"));
  }
}

TEST_CASE("a module cannot be built from undefined parts") {
  struct Lacking final : nn::Module {
    explicit Lacking(bool lacks_buffer) {
      if (lacks_buffer) add_buffer("mean", Tensor());
      add_parameter("places", Tensor(), false);
    }
  };
  CHECK_THROWS_WITH(nn::Sequential(Layers{std::make_shared<nn::ReLU>(), nullptr}), "a module's part \"1\" is missing");
  CHECK_THROWS_WITH(Lacking(true), "a module's buffer \"mean\" is missing");
  CHECK_THROWS_WITH(Lacking(false), "a module's parameter \"places\" is missing");
}

TEST_CASE("a module that does not take a tensor says so") {
  struct Other final : nn::Module {};
  Other other;
  CHECK_THROWS_WITH(other.forward(ones({1})), Catch::Contains("call operator() of its own type"));
}

}  // namespace distrun

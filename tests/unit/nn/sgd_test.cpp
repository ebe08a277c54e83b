#include <catch2/catch.hpp>

#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/nn/layers.hpp>
#include <distrun/runtime/nn/sgd.hpp>

namespace distrun {

TEST_CASE("a step goes against the gradient, with momentum as wanted") {
  const Tensor plain = set_requires_grad(ones({2})), heavy = set_requires_grad(ones({2}));
  nn::SGD first({plain}, {.learning_rate = 0.5}), second({heavy}, {.learning_rate = 0.5, .momentum = 0.5});
  for (int step = 0; step < 2; ++step) {
    first.zero_grad();
    second.zero_grad();
    backward(sum(plain) + sum(heavy));
    first.step();
    second.step();
  }
  CHECK(equal(plain, zeros({2})));
  CHECK(equal(heavy, full({2}, -0.25)));  // 1 - 0.5 - 0.75
  CHECK(is_leaf(plain));
}

TEST_CASE("a sparse gradient moves its rows alone") {
  const Tensor table = set_requires_grad(ones({4, 2}));
  nn::SGD optimiser({table}, {.learning_rate = 1, .momentum = 0.9});
  const Tensor indices = tensor::from_values<std::int64_t>({1, 3, 3});
  backward(sum(embedding_bag(table, {indices, tensor::from_values<std::int64_t>({0}), BagMode::Sum, {}}, true)));
  optimiser.step();
  CHECK(equal(table, tensor::from_values<float>({1, 1, 0, 0, 1, 1, -1, -1}, {4, 2})));
}

TEST_CASE("gradients may come from elsewhere") {
  const Tensor a = set_requires_grad(ones({2})), b = set_requires_grad(ones({2}));
  nn::SGD optimiser({a, b}, {.learning_rate = 1});
  optimiser.step({ones({2}), {}});
  CHECK(equal(a, zeros({2})));
  CHECK(equal(b, ones({2})));
  CHECK_THROWS_WITH(optimiser.step({ones({2})}), "SGD: 1 gradients for 2 parameters");
}

TEST_CASE("what can't be trained, and settings that make no sense, are refused") {
  const Tensor leaf = set_requires_grad(ones({1}));
  CHECK_THROWS_WITH(nn::SGD({ones({1})}, {}), "SGD: parameter 0 is no leaf that requires a gradient");
  CHECK_THROWS_WITH(nn::SGD({leaf, leaf * 2}, {}), Catch::Contains("parameter 1"));
  CHECK_THROWS_WITH(nn::SGD({leaf}, {.learning_rate = -1}), Catch::Contains("learning rate"));
  CHECK_THROWS_WITH(nn::SGD({leaf}, {.momentum = 1}), Catch::Contains("momentum"));
}

TEST_CASE("a line is learned") {
  manual_seed(1);
  nn::Linear layer(1, 1);
  nn::SGD optimiser(layer.parameters(), {.learning_rate = 0.1, .momentum = 0.5});
  const Tensor x = rand({32, 1}), y = x * 3 - 1;
  float loss = 0;
  for (int step = 0; step < 300; ++step) {
    optimiser.zero_grad();
    const Tensor error = mse_loss(layer(x), y);
    backward(error);
    optimiser.step();
    loss = error.item_as<float>();
  }
  CHECK(loss < 1e-4f);
}

}  // namespace distrun

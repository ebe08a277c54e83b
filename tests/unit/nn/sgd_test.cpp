#include <catch2/catch.hpp>

#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/nn/layers.hpp>
#include <distrun/runtime/nn/sgd.hpp>

#include "optimizer_cases.hpp"
#include "support/error_of.hpp"

namespace distrun {
namespace {

// def sgd(rate, mu=0, damp=0, decay=0, nesterov=False):
//     p, v = start.copy(), None
//     for g in gradients:
//         g = g + decay * p
//         if mu:
//             v = g.copy() if v is None else mu * v + (1 - damp) * g
//             g = g + mu * v if nesterov else v
//         p = p - rate * g
//     return p
void check_sgd(const nn::SGDOptions& options, const std::array<double, 3>& expected) {
  testing::check_five_steps<nn::SGD>(options, expected);
}

}  // namespace

TEST_CASE("SGD takes the same steps as numpy") {
  check_sgd({.learning_rate = 0.1}, {0.551948064814, -1.002836307464, 2.244785144569});
  check_sgd({.learning_rate = 0.1, .weight_decay = 0.2}, {0.511221130549, -0.889698238721, 2.019405708055});
}

TEST_CASE("momentum may be dampened, and weight decay is part of it") {
  check_sgd({.learning_rate = 0.1, .momentum = 0.9}, {0.270918766157, -0.678064528382, 3.614297863899});
  check_sgd({.learning_rate = 0.1, .momentum = 0.9, .dampening = 0.5},
            {0.180704383078, -1.185291461467, 3.062773368501});
  check_sgd({.learning_rate = 0.1, .momentum = 0.9, .dampening = 0.5, .weight_decay = 0.2},
            {0.115022911785, -0.965552078723, 2.689713971448});
}

// Expected by torch 1.13, with the rate changed in param_groups.
TEST_CASE("SGD continues with another learning rate, and keeps its momentum") {
  testing::check_changed_rates<nn::SGD>(nn::SGDOptions{.learning_rate = 0.1, .momentum = 0.9},
                                        {0.658192572488, -0.220107204151, 3.194782639719});
}

TEST_CASE("with nesterov a step looks ahead along the momentum") {
  check_sgd({.learning_rate = 0.1, .momentum = 0.9, .nesterov = true},
            {0.345774954355, -0.488094383008, 3.697653222078});
  check_sgd({.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.2, .nesterov = true},
            {0.261848763474, -0.112602136000, 2.844448964698});
}

TEST_CASE("SGD takes the same steps with sparse gradients as with dense ones") {
  testing::check_sparse_like_dense<nn::SGD>(nn::SGDOptions{.learning_rate = 0.1});
}

TEST_CASE("SGD refuses sparse gradients with weight decay") {
  nn::SGD optimizer({set_requires_grad(ones({4, 2}))}, {.weight_decay = 0.1});
  const Error error = testing::error_of([&] { optimizer.step({testing::sparse_gradient(0)}); });
  CHECK(error.kind() == ErrorKind::InvalidArgument);
  CHECK(error.text() == "weight_decay option is not compatible with sparse gradients");
}

TEST_CASE("a step goes against the gradient, with optional momentum") {
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

TEST_CASE("a sparse gradient updates only its rows") {
  const Tensor table = set_requires_grad(ones({4, 2}));
  nn::SGD optimiser({table}, {.learning_rate = 1, .momentum = 0.9});
  const Tensor indices = tensor::from_values<std::int64_t>({1, 3, 3});
  backward(sum(embedding_bag(table, {indices, tensor::from_values<std::int64_t>({0}), BagMode::Sum, {}}, true)));
  optimiser.step();
  CHECK(equal(table, tensor::from_values<float>({1, 1, 0, 0, 1, 1, -1, -1}, {4, 2})));
}

TEST_CASE("gradients may be passed to a step") {
  const Tensor a = set_requires_grad(ones({2})), b = set_requires_grad(ones({2}));
  nn::SGD optimiser({a, b}, {.learning_rate = 1});
  optimiser.step({ones({2}), {}});
  CHECK(equal(a, zeros({2})));
  CHECK(equal(b, ones({2})));
  CHECK_THROWS_WITH(optimiser.step({ones({2})}), "SGD: 1 gradients for 2 parameters");
}

TEST_CASE("parameters that cannot be trained, and invalid options, are refused") {
  const Tensor leaf = set_requires_grad(ones({1}));
  CHECK_THROWS_WITH(nn::SGD({ones({1})}, {}), "SGD: parameter 0 is not a leaf that requires a gradient");
  CHECK_THROWS_WITH(nn::SGD({leaf, leaf * 2}, {}), Catch::Contains("parameter 1"));
  CHECK_THROWS_WITH(nn::SGD({leaf}, {.learning_rate = -1}), "Invalid learning rate: -1");
  CHECK_THROWS_WITH(nn::SGD({leaf}, {.learning_rate = std::nan("")}), "Invalid learning rate: nan");
  CHECK_THROWS_WITH(nn::SGD({leaf}, {.momentum = -0.5}), "Invalid momentum value: -0.5");
  CHECK_THROWS_WITH(nn::SGD({leaf}, {.weight_decay = -2}), "Invalid weight_decay value: -2");
  const char* const nesterov = "Nesterov momentum requires a momentum and zero dampening";
  CHECK_THROWS_WITH(nn::SGD({leaf}, {.nesterov = true}), nesterov);
  CHECK_THROWS_WITH(nn::SGD({leaf}, {.momentum = 0.9, .dampening = 0.1, .nesterov = true}), nesterov);
  CHECK(testing::error_of([&] { nn::SGD({leaf}, {.learning_rate = -1}); }).kind() == ErrorKind::InvalidArgument);
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

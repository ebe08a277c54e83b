#include <catch2/catch.hpp>

#include <distrun/runtime/nn/adam.hpp>

#include "optimizer_cases.hpp"
#include "support/error_of.hpp"

namespace distrun {
namespace {

// def adam(rate, b1=0.9, b2=0.999, eps=1e-8, decay=0, ams=False):
//     p, m, v, top = start.copy(), np.zeros(3), np.zeros(3), np.zeros(3)
//     for n, g in enumerate(gradients, 1):
//         g = g + decay * p
//         m = b1 * m + (1 - b1) * g; v = b2 * v + (1 - b2) * g * g; top = np.maximum(top, v)
//         p = p - rate / (1 - b1**n) * m / (np.sqrt(top if ams else v) / np.sqrt(1 - b2**n) + eps)
//     return p
void check_adam(const nn::AdamOptions& options, const std::array<double, 3>& expected) {
  testing::check_five_steps<nn::Adam>(options, expected);
}

}  // namespace

TEST_CASE("Adam takes the same steps as numpy") {
  check_adam({.learning_rate = 0.1}, {0.293340833346, -1.203924987411, 2.364331295208});
  check_adam({.learning_rate = 0.1, .betas = {0.5, 0.8}, .epsilon = 0.01},
             {0.443524393007, -1.131595057878, 2.271279658007});
}

TEST_CASE("Adam's weight decay is part of the gradient") {
  check_adam({.learning_rate = 0.1, .weight_decay = 0.2}, {0.267975497545, -1.139352918464, 2.322496479425});
}

TEST_CASE("amsgrad uses the largest mean of squares so far") {
  check_adam({.learning_rate = 0.1, .betas = {0.5, 0.8}, .amsgrad = true},
             {0.443282941647, -1.132862453877, 2.270724229579});
  check_adam({.learning_rate = 0.1, .betas = {0.5, 0.8}, .weight_decay = 0.2, .amsgrad = true},
             {0.416823685631, -1.080958374850, 2.228219142598});
}

// Expected by torch 1.13's AdamW, with its defaults except for the decay.
TEST_CASE("decoupled weight decay shrinks the parameters directly, as AdamW does") {
  check_adam({.learning_rate = 0.1, .weight_decay = 0.2, .decoupled_weight_decay = true},
             {0.260305511775, -1.078828093635, 2.153788338610});
  check_adam(
      {.learning_rate = 0.1, .betas = {0.5, 0.8}, .weight_decay = 0.2, .amsgrad = true, .decoupled_weight_decay = true},
      {0.407319745569, -1.011283344440, 2.060447414144});
}

// Expected by torch 1.13's Adam and AdamW, with the rate changed in param_groups.
TEST_CASE("Adam continues with another learning rate") {
  testing::check_changed_rates<nn::Adam>(nn::AdamOptions{.learning_rate = 0.1},
                                         {0.431837217256, -1.128959334343, 2.278855001806});
  testing::check_changed_rates<nn::Adam>(
      nn::AdamOptions{.learning_rate = 0.1, .weight_decay = 0.2, .decoupled_weight_decay = true},
      {0.383997837750, -0.939743699825, 1.967878794165});
}

TEST_CASE("Adam's default options are those of PyTorch") {
  const nn::AdamOptions options;
  CHECK(options.learning_rate == 1e-3);
  CHECK(options.betas == std::array<double, 2>{0.9, 0.999});
  CHECK(options.epsilon == 1e-8);
  CHECK(options.weight_decay == 0);
  CHECK_FALSE(options.amsgrad);
  CHECK_FALSE(options.decoupled_weight_decay);
}

TEST_CASE("Adam refuses invalid options, with the texts of PyTorch") {
  CHECK_THROWS_WITH(nn::Adam({testing::table_parameter()}, {.learning_rate = -1}), "Invalid learning rate: -1");
  CHECK_THROWS_WITH(nn::Adam({testing::table_parameter()}, {.betas = {1, 0.999}}),
                    "Invalid beta parameter at index 0: 1");
  CHECK_THROWS_WITH(nn::Adam({testing::table_parameter()}, {.betas = {0.9, -0.5}}),
                    "Invalid beta parameter at index 1: -0.5");
  CHECK_THROWS_WITH(nn::Adam({testing::table_parameter()}, {.epsilon = -1e-8}), "Invalid epsilon value: -1e-08");
  CHECK_THROWS_WITH(nn::Adam({testing::table_parameter()}, {.weight_decay = -2}), "Invalid weight_decay value: -2");
}

TEST_CASE("Adam refuses sparse gradients and changes nothing") {
  const Tensor first = testing::table_parameter(), second = testing::table_parameter();
  nn::Adam optimizer({first, second});
  const Error error = testing::error_of([&] { optimizer.step({tensor::ones({4, 2}), testing::sparse_gradient(0)}); });
  CHECK(error.kind() == ErrorKind::InvalidArgument);
  CHECK(error.text() == "Adam does not support sparse gradients");
  CHECK(tensor::equal(first, tensor::ones({4, 2})));
}

}  // namespace distrun

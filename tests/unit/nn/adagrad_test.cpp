#include <catch2/catch.hpp>

#include <distrun/runtime/nn/adagrad.hpp>

#include "optimizer_cases.hpp"
#include "support/error_of.hpp"

namespace distrun {
namespace {

// def adagrad(rate, lr_decay=0, decay=0, first=0, eps=1e-10):
//     p, s = start.copy(), np.full(3, float(first))
//     for n, g in enumerate(gradients):
//         g = g + decay * p
//         s = s + g * g
//         p = p - rate / (1 + n * lr_decay) * g / (np.sqrt(s) + eps)
//     return p
void check_adagrad(const nn::AdagradOptions& options, const std::array<double, 3>& expected) {
  testing::check_five_steps<nn::Adagrad>(options, expected);
}

}  // namespace

TEST_CASE("Adagrad takes the same steps as numpy") {
  check_adagrad({.learning_rate = 0.5}, {0.443612379077, -0.895796962594, 2.812126367849});
}

TEST_CASE("Adagrad's rate, weights and first sum follow their options") {
  check_adagrad({.learning_rate = 0.5, .lr_decay = 0.3}, {0.178869038394, -1.178388393895, 2.823338022537});
  check_adagrad({.learning_rate = 0.5, .weight_decay = 0.2}, {0.430315014860, -0.746489008621, 2.616414149799});
  check_adagrad({.learning_rate = 0.5, .initial_accumulator_value = 0.4, .epsilon = 0.1},
                {0.507689650972, -0.878212165549, 2.708948584167});
  check_adagrad(
      {.learning_rate = 0.5, .lr_decay = 0.3, .weight_decay = 0.2, .initial_accumulator_value = 0.4, .epsilon = 0.1},
      {0.250408881588, -0.998793295521, 2.581838563374});
}

// Expected by torch 1.13, with the rate changed in param_groups.
TEST_CASE("Adagrad continues with another learning rate, which decays as the first one did") {
  testing::check_changed_rates<nn::Adagrad>(nn::AdagradOptions{.learning_rate = 0.1, .lr_decay = 0.5},
                                            {0.441090855504, -1.331094145486, 2.065322895902});
}

TEST_CASE("Adagrad's default options are those of PyTorch") {
  const nn::AdagradOptions options;
  CHECK(options.learning_rate == 1e-2);
  CHECK(options.lr_decay == 0);
  CHECK(options.weight_decay == 0);
  CHECK(options.initial_accumulator_value == 0);
  CHECK(options.epsilon == 1e-10);
}

TEST_CASE("Adagrad takes the same steps with sparse gradients as with dense ones, after coalescing them") {
  testing::check_sparse_like_dense<nn::Adagrad>(nn::AdagradOptions{.learning_rate = 0.5, .lr_decay = 0.3});
  testing::check_sparse_like_dense<nn::Adagrad>(nn::AdagradOptions{.initial_accumulator_value = 0.4, .epsilon = 0.1});
}

TEST_CASE("Adagrad refuses invalid options, with the texts of PyTorch") {
  CHECK_THROWS_WITH(nn::Adagrad({testing::table_parameter()}, {.learning_rate = -1}), "Invalid learning rate: -1");
  CHECK_THROWS_WITH(nn::Adagrad({testing::table_parameter()}, {.lr_decay = -0.5}), "Invalid lr_decay value: -0.5");
  CHECK_THROWS_WITH(nn::Adagrad({testing::table_parameter()}, {.weight_decay = -2}), "Invalid weight_decay value: -2");
  CHECK_THROWS_WITH(nn::Adagrad({testing::table_parameter()}, {.initial_accumulator_value = -1}),
                    "Invalid initial_accumulator_value value: -1");
  CHECK_THROWS_WITH(nn::Adagrad({testing::table_parameter()}, {.epsilon = -3}), "Invalid epsilon value: -3");
}

TEST_CASE("Adagrad refuses sparse gradients with weight decay") {
  nn::Adagrad optimizer({testing::table_parameter()}, {.weight_decay = 0.1});
  const Error error = testing::error_of([&] { optimizer.step({testing::sparse_gradient(0)}); });
  CHECK(error.kind() == ErrorKind::InvalidArgument);
  CHECK(error.text() == "weight_decay option is not compatible with sparse gradients");
}

}  // namespace distrun

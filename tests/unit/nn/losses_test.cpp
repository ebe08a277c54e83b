// Losses as objects with options. The tests of the operators check their values.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/nn/activations.hpp>
#include <distrun/runtime/nn/losses.hpp>
#include <distrun/runtime/tensor/closeness.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun {

TEST_CASE("losses are the operators of their names with the options of their constructor") {
  const Tensor logits = randn({5, 3}), classes = from_values<std::int64_t>({0, 2, 1, 1, 0});
  const Tensor logarithms = nn::LogSoftmax(1)(logits);
  CHECK(equal(nn::MSELoss()(logits, logarithms), mse_loss(logits, logarithms)));
  CHECK(equal(nn::CrossEntropyLoss()(logits, classes), cross_entropy(logits, classes)));
  CHECK(equal(nn::NLLLoss()(logarithms, classes), nll_loss(logarithms, classes)));
  const Tensor weight = from_values<float>({1, 2, 3});
  const nn::CrossEntropyLoss weighted({.weight = weight, .reduction = Reduction::Sum, .label_smoothing = 0.1});
  CHECK(equal(weighted(logits, classes),
              cross_entropy(logits, classes, {.weight = weight, .reduction = Reduction::Sum, .label_smoothing = 0.1})));
  const nn::NLLLoss each({.ignore_index = 1, .reduction = Reduction::None});
  CHECK(equal(each(logarithms, classes),
              nll_loss(logarithms, classes, {.ignore_index = 1, .reduction = Reduction::None})));
}

TEST_CASE("the two ways to compute a classifier's loss agree, with their gradients") {
  const Tensor one = set_requires_grad(randn({5, 3})), other = set_requires_grad(tensor::clone(detach(one)));
  const Tensor classes = from_values<std::int64_t>({0, 2, 1, 1, 0});
  backward(nn::CrossEntropyLoss()(one, classes));
  backward(nn::NLLLoss()(nn::LogSoftmax(1)(other), classes));
  CHECK(tensor::difference(grad(one), grad(other)).value_or("") == "");
}

TEST_CASE("an unknown class is refused") {
  CHECK_THROWS_AS(nn::CrossEntropyLoss()(ones({1, 3}), from_values<std::int64_t>({3})), Error);
  CHECK_THROWS_AS(nn::NLLLoss()(ones({1, 3}), from_values<std::int64_t>({-1})), Error);
}

}  // namespace distrun

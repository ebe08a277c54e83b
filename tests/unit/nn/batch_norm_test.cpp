#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/nn/batch_norm.hpp>
#include <distrun/runtime/nn/layers.hpp>
#include <distrun/runtime/tensor/closeness.hpp>

#include "support/gpus.hpp"

namespace distrun {
namespace {

Tensor two_channels() { return from_values<float>({1, 10, 3, 30, 5, 50}, {3, 2}); }  // means 3 and 30

void check_close(const Tensor& actual, const Tensor& expected) {
  CHECK(tensor::difference(detach(actual), expected).value_or("") == "");
}

}  // namespace

TEST_CASE("in training a batch is normalised to mean 0 and variance 1, and the running moments are updated") {
  nn::BatchNorm norm(2, {.epsilon = 1e-9, .momentum = 0.5});
  const Tensor y = norm(two_channels());
  const float edge = 1.2247449F;  // of -2, 0 and 2
  check_close(y, from_values<float>({-edge, -edge, 0, 0, edge, edge}, {3, 2}));
  check_close(norm.running_mean(), from_values<float>({1.5, 15}));
  check_close(norm.running_var(), from_values<float>({0.5F + 0.5F * 4, 0.5F + 0.5F * 400}));  // 8 / 3 * 3 / 2
}

TEST_CASE("in evaluation the running moments are used and not changed") {
  nn::BatchNorm norm(2);
  norm.train(false);
  check_close(norm(two_channels()), two_channels() / std::sqrt(1 + 1e-5));
  check_close(norm.running_mean(), zeros({2}));
  nn::BatchNorm without(2, {.track_running_stats = false});
  without.train(false);
  CHECK(without.buffers().empty());
  check_close(sum(without(two_channels()), {0}), zeros({2}));
}

TEST_CASE("batches are counted only in training, and without a momentum the running moments are their average") {
  nn::BatchNorm norm(2, {.momentum = std::nullopt});
  CHECK(norm.num_batches_tracked().dtype() == DType::I64);
  norm(two_channels());
  check_close(norm.running_mean(), from_values<float>({3, 30}));  // nothing is left of the initial value
  check_close(norm.running_var(), from_values<float>({4, 400}));
  norm(two_channels() + 4);
  norm.eval();
  norm(two_channels());
  CHECK(norm.num_batches_tracked().item<int>() == 2);
  check_close(norm.running_mean(), from_values<float>({5, 32}));
  check_close(norm.running_var(), from_values<float>({4, 400}));
}

TEST_CASE("weight and bias have an element for each channel, unless disabled, and buffers have names") {
  const nn::BatchNorm norm(4), plain(4, {.affine = false});
  CHECK(norm.parameters().size() == 2U);
  CHECK(plain.parameters().empty());
  REQUIRE(norm.named_buffers().size() == 3U);
  CHECK(norm.named_buffers()[0].first == "running_mean");
  CHECK(norm.named_buffers()[1].first == "running_var");
  CHECK(norm.named_buffers()[2].first == "num_batches_tracked");
}

TEST_CASE("batches that cannot be normalised are refused, with the reason") {
  nn::BatchNorm norm(2);
  CHECK_THROWS_WITH(norm(ones({3, 4})), Catch::Contains("must be [N, 2]") && Catch::Contains("not [3, 4]"));
  CHECK_THROWS_WITH(norm(ones({1, 2})), Catch::Contains("needs more than one element for each channel"));
  CHECK_THROWS_WITH(nn::BatchNorm(0), Catch::Contains("channels must be at least 1, not 0"));
  CHECK_THROWS_WITH(nn::BatchNorm(1, {.momentum = 2}), Catch::Contains("momentum must be in [0, 1]"));
  norm.train(false);
  CHECK(norm(ones({1, 2, 3, 4})).sizes() == Dims{1, 2, 3, 4});
}

TEST_CASE("an empty batch has an empty result, gradients of 0, and does not change the running moments") {
  for (const Dims& sizes : {Dims{0, 2}, Dims{0, 2, 3}, Dims{4, 2, 0}, Dims{0, 2, 5, 5}}) {
    nn::BatchNorm norm(2), of_batches(2, {.track_running_stats = false});
    const Tensor x = set_requires_grad(zeros(sizes));
    const Tensor y = norm(x);
    CHECK(y.sizes() == sizes);
    backward(sum(y));
    CHECK(grad(x).sizes() == sizes);
    CHECK(equal(grad(norm.weight()), zeros({2})));
    CHECK(equal(grad(norm.bias()), zeros({2})));
    CHECK(equal(norm.running_mean(), zeros({2})));
    CHECK(equal(norm.running_var(), ones({2})));
    CHECK(norm.num_batches_tracked().item<int>() == 0);
    of_batches.train(false);
    CHECK(of_batches(x).sizes() == sizes);
  }
}

TEST_CASE("a batch that is refused does not change the running moments") {
  nn::BatchNorm norm(2);
  CHECK_THROWS_AS(norm(distrun::to(two_channels(), DType::F64)), Error);
  CHECK(equal(norm.running_mean(), zeros({2})));
  CHECK(equal(norm.running_var(), ones({2})));
}

TEST_CASE("buffers move with the module") {
  struct WithBuffer final : nn::Module {
    WithBuffer() {
      add_buffer("steps", ones({2}, {tensor::DType::I64}));
      add_parameter("places", ones({2}, {tensor::DType::I64}), false);
    }
  };
  testing::use_gpus();
  WithBuffer module;
  CHECK_FALSE(requires_grad(module.parameters().front()));
  CHECK(module.trained_parameters().empty());
  module.to(device::cuda(0));
  for (const Tensor& moved : {module.buffers().front(), module.parameters().front()}) {
    CHECK(moved.device() == device::cuda(0));
    CHECK(moved.dtype() == tensor::DType::I64);
    CHECK_FALSE(requires_grad(moved));
  }
  const auto inner = std::make_shared<nn::BatchNorm>(2);
  nn::Sequential outer({inner});
  CHECK(outer.named_buffers()[1].first == "0.running_var");
  outer.to(device::cuda(0));
  CHECK(inner->running_var().device() == device::cuda(0));
  (*inner)(distrun::to(two_channels(), device::cuda(0)));
  check_close(distrun::to(outer.buffers().front(), device::kCpu), from_values<float>({0.3F, 3}));
}

}  // namespace distrun

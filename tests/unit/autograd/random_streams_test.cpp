// Random graphs with operators on random streams of two devices: their gradients equal those of the same graph on the
// default streams, and no access is out of order.
#include <catch2/catch.hpp>

#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>

#include "central_differences.hpp"
#include "stream_graph.hpp"

namespace distrun {
namespace {

using testing::StreamGraph;
using testing::Streams;

// Returns all leaves' gradients of the sum of all values, on the CPU.
TensorList gradients_of(const StreamGraph& graph, int passes) {
  const Tensor loss = graph.loss();
  for (int pass = 0; pass < passes; ++pass) backward(loss, {}, {.retain_graph = true});
  TensorList gradients;
  for (const Tensor& leaf : graph.leaves()) gradients.push_back(grad(leaf).defined() ? cpu(grad(leaf)) : Tensor());
  return gradients;
}

}  // namespace

TEST_CASE("random graphs over streams and devices have the gradients that they have on the default streams") {
  test::gpu();
  constexpr int kPasses = 2;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    const TensorList expected = gradients_of(StreamGraph(seed, Streams::Default), kPasses);
    const TensorList got = gradients_of(StreamGraph(seed, Streams::Random), kPasses);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      REQUIRE(expected[i].defined() == got[i].defined());
      if (expected[i].defined()) CHECK(equal(expected[i], got[i]));
    }
    REQUIRE(test::order_reports() == std::vector<std::string>{});
  }
}

TEST_CASE("a gradient that another stream still reads is not added to in place") {
  test::gpu();
  const Device device = device::cuda(0);
  const Stream home = device::current_stream(device), a = device::stream_from_pool(device),
               b = device::stream_from_pool(device);
  for (int round = 0; round < 20; ++round) {
    const Tensor w = set_requires_grad(ones({testing::kGraphElements}, {DType::F64, device}));
    device::Event ready;
    ready.record(home);
    Tensor u, x;
    const auto made_on = [&](Stream stream, double factor) {
      ready.block(stream);
      w.record_stream(stream);
      const device::StreamGuard guard(stream);
      const Tensor made = w * factor;
      device::Event done;
      done.record(stream);
      done.block(home);
      made.record_stream(home);
      return made;
    };
    u = made_on(a, 2);
    x = made_on(b, 3);
    const Tensor p = sum(u * 5), q = sum(x * 7), z = sum(-(u + x));
    backward(p + q + z);
    CHECK(equal(cpu(grad(w)), full({testing::kGraphElements}, 2.0 * (5 - 1) + 3.0 * (7 - 1), {DType::F64})));
  }
  CHECK(test::order_reports() == std::vector<std::string>{});
}

}  // namespace distrun

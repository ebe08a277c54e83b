// Training over workers: parameters are updated on their owners, and a loop leaves nothing behind.
#include <malloc.h>

#include "autograd_ranks.hpp"

namespace distrun::dist_autograd {
namespace training_test {

Tensor parameter(double value) { return set_requires_grad(full({4, 4}, value)); }
DISTRUN_RPC(parameter)
Tensor times(const RRef<Tensor>& weight, const Tensor& x) { return mm(x, weight.local_value()); }
DISTRUN_RPC(times)

}  // namespace training_test

namespace {

using namespace training_test;

constexpr int kIterations = 10'000;
// The ids of 65 536 dropped references are remembered, which takes less memory than any leaked value or context.
constexpr std::size_t kOfAnId = 160;
constexpr int kWarm = 5'000;  // by then pools and the memory of passes have their final size

// Returns the heap memory in use, in bytes. A sanitizer has a separate heap that this does not count.
std::size_t heap_used() { return ::mallinfo2().uordblks; }

TEST_CASE("parameters are updated with their gradients, each on its owner") {
  const AutogradRanks ranks(2);
  ranks.as(0, [] {
    const Tensor here = parameter(1);
    const auto there = rref::remote(1, training_test::parameter, 2.0);
    DistributedOptimizer optimizer({RRef<Tensor>(here), there}, nn::SGDOptions{.learning_rate = 0.5});
    const Tensor x = ones({1, 4});
    const ContextScope context;
    backward(context.id(), {sum(rpc::rpc_sync(1, times, there, mm(x, here)))});
    optimizer.step(context.id());
    CHECK(differs(here, full({4, 4}, 1 - 0.5 * 8)) == "");             // 4 columns of 2
    CHECK(differs(there.to_here(), full({4, 4}, 2 - 0.5 * 4)) == "");  // 4 was received
  });
}

TEST_CASE("a learning rate is changed on all owners, or refused by all") {
  const AutogradRanks ranks(2);
  ranks.as(0, [] {
    const Tensor here = parameter(1);
    const auto there = rref::remote(1, training_test::parameter, 2.0);
    DistributedOptimizer optimizer({RRef<Tensor>(here), there}, nn::SGDOptions{.learning_rate = 100});
    optimizer.set_learning_rate(0.5);
    CHECK_THAT(rpc::text_of_error([&] { optimizer.set_learning_rate(-1); }),
               Catch::Contains("Invalid learning rate: -1"));
    const ContextScope context;
    backward(context.id(), {sum(rpc::rpc_sync(1, times, there, mm(ones({1, 4}), here)))});
    optimizer.step(context.id());
    CHECK(differs(here, full({4, 4}, 1 - 0.5 * 8)) == "");
    CHECK(differs(there.to_here(), full({4, 4}, 2 - 0.5 * 4)) == "");
  });
}

TEST_CASE("an error of an optimizer names the worker that it happened on") {
  const AutogradRanks ranks(2);
  ranks.as(0, [] {
    const auto there = rref::remote(1, training_test::parameter, 2.0);
    const auto make = [&] { DistributedOptimizer({there}, nn::SGDOptions{.learning_rate = -1}); };
    CHECK_THAT(rpc::text_of_error(make), Catch::Contains("learning"));
    CHECK_THAT(rpc::text_of_error([] { DistributedOptimizer({}, nn::SGDOptions{}); }),
               Catch::Contains("empty parameter list"));
  });
}

TEST_CASE("a training loop leaves no context, reference or memory behind") {
  const AutogradRanks ranks(2);
  std::size_t grown = 0;
  ranks.as(0, [&] {
    const Tensor here = parameter(0.1), x = ones({1, 4});
    const auto there = rref::remote(1, training_test::parameter, 0.1);
    DistributedOptimizer optimizer({RRef<Tensor>(here), there}, nn::SGDOptions{.learning_rate = 1e-6, .momentum = 0.9});
    std::size_t before = 0;
    for (int i = 0; i < kIterations; ++i) {
      if (i == kWarm) before = heap_used();
      const ContextScope context;
      const auto hidden = rref::remote<Tensor>(1, times, there, mm(x, here));
      backward(context.id(), {sum(hidden.to_here())});
      optimizer.step(context.id());
    }
    const std::size_t after = heap_used();
    grown = after > before ? after - before : 0;
  });
  CHECK(grown < kOfAnId * (kIterations - kWarm));
  CHECK(ranks.left_over() == "");
  ranks.as(1, [] {
    const auto held = [] { return rpc::debug_info().at("num_owner_rrefs"); };
    // The parameter and its optimizer; the loop's references are dropped by messages, which arrive a little later.
    CHECK(eventually(scaled(std::chrono::milliseconds(5000)), [&] { return held() == "0"; }));
  });
}

}  // namespace
}  // namespace distrun::dist_autograd

#include "autograd_ranks.hpp"

namespace distrun::dist_autograd {
namespace backward_test {

Tensor product(const Tensor& a, const Tensor& b) { return a * b; }
DISTRUN_RPC(product)
// The second result contributes to no requested gradient.
std::vector<Tensor> product_and_sum(const Tensor& a, const Tensor& b) { return {a * b, a + b}; }
DISTRUN_RPC(product_and_sum)
Tensor product_elsewhere(const std::string& to, const Tensor& a, const Tensor& b) {
  return rpc::rpc_sync<Tensor>(to, "product", a, b) * a;
}
DISTRUN_RPC(product_elsewhere)

}  // namespace backward_test

namespace {

using namespace backward_test;

const Mode kModes[] = {Mode::Smart, Mode::Fast};

TEST_CASE("gradients of a call equal those of the same program on one rank") {
  const AutogradRanks ranks(2);
  for (const Mode mode : kModes) {
    ranks.as(0, [&] {
      const Tensor a = leaf(2), b = leaf(3);
      const ContextScope scope;
      backward(scope.id(), {sum(rpc::rpc_sync<Tensor>("worker1", "mul", a, b))}, {.mode = mode});
      const GradientsOfLeaves gradients = get_gradients(scope.id());
      CHECK(gradients.size() == 2);
      CHECK(differs(gradients.at(a), full({2, 2}, 3)) == "");
      CHECK(differs(gradients.at(b), full({2, 2}, 2)) == "");
      CHECK_FALSE(grad(a).defined());
    });
  }
  CHECK(ranks.left_over() == "");
}

TEST_CASE("gradients go through nested calls, round trips and calls to oneself") {
  const AutogradRanks ranks(3);
  for (const Mode mode : kModes) {
    ranks.as(0, [&] {
      const Tensor a = leaf(2), b = leaf(3);
      const ContextScope scope;
      const auto once = rpc::rpc_sync<Tensor>("worker1", "product_elsewhere", "worker2", a, b);  // a a b
      const auto twice = rpc::rpc_sync<Tensor>("worker2", "product", once, b);                   // a a b b
      const auto here = rpc::rpc_sync<Tensor>("worker0", "product", twice, a);                   // a a a b b
      const auto back = rpc::rpc_sync<Tensor>("worker1", "product_elsewhere", "worker0", here, b);
      backward(scope.id(), {sum(back)}, {.mode = mode});  // a^6 b^5
      const GradientsOfLeaves gradients = get_gradients(scope.id());
      CHECK(differs(gradients.at(a), full({2, 2}, 6 * 32.0 * 243)) == "");
      CHECK(differs(gradients.at(b), full({2, 2}, 5 * 64.0 * 81)) == "");
    });
  }
  CHECK(ranks.left_over() == "");
}

TEST_CASE("unused results take no part, and the pass does not wait for them") {
  const AutogradRanks ranks(3);
  ranks.as(0, [&] {
    const Tensor a = leaf(2), b = leaf(3);
    const ContextScope scope;
    const auto unused = rpc::rpc_sync<Tensor>("worker1", "product", a, b);
    const auto both = rpc::rpc_sync<std::vector<Tensor>>("worker1", "product_and_sum", a, b);
    rpc::rpc_sync<Tensor>("worker2", "product_elsewhere", "worker1", a, b);
    backward(scope.id(), {sum(both[0])});
    CHECK(differs(get_gradients(scope.id()).at(a), full({2, 2}, 3)) == "");
    CHECK(get_gradients(scope.id()).size() == 2);
  });
  CHECK(ranks.left_over() == "");
}

TEST_CASE("a pass that waits for gradients of an unused result names it when it times out") {
  const AutogradRanks ranks(2);
  ranks.as(0, [&] {
    const Tensor a = leaf(2), b = leaf(3);
    const ContextScope scope;
    const auto unused = rpc::rpc_sync<Tensor>("worker1", "product", a, b);
    const auto used = rpc::rpc_sync<Tensor>("worker1", "product", a, b);
    const std::string error =
        rpc::text_of_error([&] { backward(scope.id(), {sum(used)}, {.mode = Mode::Fast, .timeout = 0.3}); });
    CHECK_THAT(error, Catch::Contains("it waits for gradients from worker 1 of product() at backward_test.cpp:"));
    constexpr double kNever = std::numeric_limits<double>::infinity();
    backward(scope.id(), {sum(rpc::rpc_sync<Tensor>("worker1", "product", a, b))}, {.timeout = kNever});
  });
  CHECK(ranks.left_over() == "");
}

TEST_CASE("passes of one context accumulate, and a retained graph can be used again") {
  const AutogradRanks ranks(2);
  for (const Mode mode : kModes) {
    ranks.as(0, [&] {
      const Tensor a = leaf(2), b = leaf(3);
      const ContextScope scope;
      const Tensor loss = sum(rpc::rpc_sync<Tensor>("worker1", "product", a, b));
      for (int i = 0; i < 3; ++i) backward(scope.id(), {loss}, {.retain_graph = true, .mode = mode});
      CHECK(differs(get_gradients(scope.id()).at(a), full({2, 2}, 9)) == "");
    });
  }
  CHECK(ranks.left_over() == "");
}

TEST_CASE("several roots, also without any call, are one pass") {
  const AutogradRanks ranks(2);
  ranks.as(0, [&] {
    const Tensor a = leaf(2), b = leaf(3);
    const ContextScope scope;
    backward(scope.id(), {sum(a * b), sum(a)});
    CHECK(differs(get_gradients(scope.id()).at(a), full({2, 2}, 4)) == "");
    backward(scope.id(), {sum(rpc::rpc_sync<Tensor>("worker1", "product", a, b)), sum(b)});
    CHECK(differs(get_gradients(scope.id()).at(b), full({2, 2}, 5)) == "");
  });
}

TEST_CASE("many calls at once are one pass") {
  const AutogradRanks ranks(2);
  for (const Mode mode : kModes) {
    ranks.as(0, [&] {
      const Tensor a = leaf(2), b = leaf(3);
      const ContextScope scope;
      std::vector<Future<Tensor>> calls;
      for (int i = 0; i < 100; ++i) calls.push_back(rpc::rpc_async<Tensor>("worker1", "product", a, b));
      Tensor total = zeros({2, 2});
      for (const auto& each : calls) total = total + each.wait();
      backward(scope.id(), {sum(total)}, {.mode = mode});
      CHECK(differs(get_gradients(scope.id()).at(a), full({2, 2}, 300)) == "");
    });
  }
  CHECK(ranks.left_over() == "");
}

TEST_CASE("the value of a reference is a root, for its owner and for others") {
  const AutogradRanks ranks(2);
  ranks.as(0, [&] {
    const Tensor a = leaf(2), b = leaf(3);
    for (const char* owner : {"worker0", "worker1"}) {
      const ContextScope scope;
      const RRef<Tensor> product = rref::remote<Tensor>(owner, "product", a, b);
      const RRef<Tensor> loss = product.remote().call<Tensor>("sum");
      backward(scope.id(), loss);
      CHECK(differs(get_gradients(scope.id()).at(a), full({2, 2}, 3)) == "");
    }
  });
  CHECK(ranks.left_over() == "");
}

}  // namespace
}  // namespace distrun::dist_autograd

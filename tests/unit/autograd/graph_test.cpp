#include <catch2/catch.hpp>

#include <distrun/runtime/autograd/accumulate_grad.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/node.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>

#include "unit/autograd/leaf.hpp"

namespace distrun {
namespace {

using autograd::Node;
using autograd::Ref;
using testing::leaf;

}  // namespace

TEST_CASE("a result knows the node that made it, and the node knows where gradients go") {
  const Tensor a = leaf(), b = leaf();
  const Tensor sum = a + b;
  const Ref<Node> node = grad_fn(sum);
  CHECK(node->name() == "AddBackward0");
  REQUIRE(node->next_edges().size() == 2);
  const Ref<Node> end = node->next_edges()[0].node;
  CHECK(end->name() == "torch::autograd::AccumulateGrad");
  CHECK(static_cast<autograd::AccumulateGrad&>(*end).variable().is_same(a));
  CHECK(node->next_edges()[1].node != end);
  CHECK(autograd::gradient_edge(a).node == end);
  CHECK_FALSE(is_leaf(sum));
  CHECK(is_leaf(a));
  CHECK_FALSE(grad_fn(a));
}

TEST_CASE("operators have the names of nodes that people know") {
  const Tensor a = leaf();
  const auto name = [](const Tensor& tensor) { return grad_fn(tensor)->name(); };
  CHECK(name(a + 1) == "AddBackward0");
  CHECK(name(a - a) == "SubBackward0");
  CHECK(name(a * a) == "MulBackward0");
  CHECK(name(a / a) == "DivBackward0");
  CHECK(name(matmul(a, a)) == "MmBackward0");
  CHECK(name(sum(a)) == "SumBackward0");
  CHECK(name(stack({a, a})) == "StackBackward0");
  CHECK(name(split(a, 2)[1]) == "SplitBackward0");
  CHECK(name(split(a, Dims{1, 2})[1]) == "SplitWithSizesBackward0");
  CHECK(name(1 - a) == "RsubBackward1");
  CHECK(autograd::output_number(split(a, 2)[1]) == 1);
}

TEST_CASE("both edges of t + t lead to one node, whose post-hooks each run once in a pass") {
  const Tensor t = leaf({10, 10});
  const Tensor a = t + t;
  const Ref<Node> first = grad_fn(a)->next_edges()[0].node, second = grad_fn(a)->next_edges()[1].node;
  REQUIRE(first == second);
  int count = 0;
  const auto adding = [&count](int number) {
    return [&count, number](TensorList results, const TensorList& gradients) {
      CHECK(results.empty());
      CHECK(gradients.size() == 1);
      count += number;
      return results;
    };
  };
  first->add_post_hook(adding(1));
  first->add_post_hook(adding(2));
  second->add_post_hook(adding(2));
  backward(sum(a));
  CHECK(count == 5);
  CHECK(equal(grad(t), full({10, 10}, 2.0)));
}

TEST_CASE("a hook of a leaf sees the gradient once and may change it") {
  const Tensor t1 = leaf(), t2 = leaf();
  int calls = 0;
  const auto hook = register_hook(t1, [&calls](const Tensor& gradient) {
    ++calls;
    return gradient * 2;
  });
  backward(sum(matmul(t1, t2)));
  CHECK(calls == 1);
  CHECK(equal(grad(t1), full({3, 3}, 6.0)));
  CHECK(equal(grad(t2), full({3, 3}, 3.0)));
  autograd::remove_hook(t1, hook);
  set_grad(t1, {});
  backward(sum(matmul(t1, t2)));
  CHECK(calls == 1);
  CHECK(equal(grad(t1), full({3, 3}, 3.0)));
}

TEST_CASE("hooks of tensors in between and pre-hooks of nodes see gradients in order") {
  const Tensor t = leaf();
  const Tensor middle = t * 3;
  std::string order;
  register_hook(middle, [&order](const Tensor& gradient) {
    order += "tensor ";
    return gradient + 1;
  });
  grad_fn(middle)->add_pre_hook([&order](TensorList gradients) {
    order += "node ";
    CHECK(gradients[0].size(0) == 3);
    gradients[0] = gradients[0] * 2;
    return gradients;
  });
  backward(sum(middle));
  CHECK(order == "tensor node ");
  CHECK(equal(grad(t), full({3, 3}, 12.0)));
}

TEST_CASE("a hook that returns too few tensors is told so") {
  const Tensor t = leaf();
  const Tensor middle = t * 3;
  grad_fn(middle)->add_pre_hook([](TensorList) { return TensorList(); });
  CHECK_THROWS_WITH(backward(sum(middle)), Catch::Contains("must return as many"));
}

TEST_CASE("nothing is recorded without grad mode, without a leaf that needs it, and for integers") {
  const Tensor a = leaf();
  {
    const NoGradGuard guard;
    CHECK_FALSE(requires_grad(a + a));
    const EnableGradGuard again;
    CHECK(requires_grad(a + a));
  }
  CHECK_FALSE(requires_grad(detach(a) + 1));
  CHECK_FALSE(requires_grad(eq(a, a)));
  CHECK_FALSE(requires_grad(to(a, DType::I64)));
  CHECK_FALSE(requires_grad(copy_(zeros({3, 3}, {DType::I64}), a)));
  CHECK_THROWS_WITH(set_requires_grad(arange(3)), Catch::Contains("floating point"));
  CHECK_THROWS_WITH(set_requires_grad(a + 1, false), Catch::Contains("detach()"));
}

TEST_CASE("gradients are added up until they are cleared") {
  const Tensor a = leaf();
  for (int pass = 1; pass <= 3; ++pass) {
    backward(sum(a * 2));
    CHECK(equal(grad(a), full({3, 3}, 2.0 * pass)));
  }
  set_grad(a, {});
  CHECK_FALSE(grad(a).defined());
  CHECK_THROWS_WITH(set_grad(a, ones({2})), Catch::Contains("size is [2]"));
}

TEST_CASE("a node that is held keeps its leaf, and a leaf is the same node for all its life") {
  Ref<Node> end;
  const void* address = nullptr;
  {
    const Tensor a = leaf();
    end = autograd::gradient_edge(a).node;
    address = end.get();
    CHECK(autograd::gradient_edge(a).node.get() == address);
  }
  CHECK(static_cast<autograd::AccumulateGrad&>(*end).variable().numel() == 9);
}

TEST_CASE("a chain of a million nodes is run and released without a deep stack") {
  constexpr int kNodes = 1'000'000;
  const Tensor a = leaf({1});
  {
    Tensor end = a;
    for (int i = 0; i < kNodes; ++i) end = end + 1;
    backward(end);
    CHECK(grad(a).item_as<float>() == 1);
  }
  Tensor kept = a;  // each node keeps the tensor before it, which has the node before it
  for (int i = 0; i < kNodes; ++i) kept = kept * a;
  CHECK(kept.item_as<float>() == 1);
}

}  // namespace distrun

#include <catch2/catch.hpp>

#include <distrun/runtime/autograd/accumulate_grad.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/graph_task.hpp>
#include <distrun/runtime/autograd/node.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>

#include "unit/autograd/leaf.hpp"

namespace distrun {
namespace {

using autograd::Node;
using autograd::Ref;
using testing::leaf;

}  // namespace

TEST_CASE("a result knows the node that created it, and the node knows where gradients go") {
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

TEST_CASE("nodes have the names that users know from PyTorch") {
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

TEST_CASE("both edges of t + t lead to one node, and its post-hooks run once in a pass") {
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

TEST_CASE("hooks of intermediate tensors and pre-hooks of nodes see gradients in order") {
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

TEST_CASE("a hook that returns too few tensors is an error") {
  const Tensor t = leaf();
  const Tensor middle = t * 3;
  grad_fn(middle)->add_pre_hook([](TensorList) { return TensorList(); });
  CHECK_THROWS_WITH(backward(sum(middle)), Catch::Contains("must return as many"));
}

TEST_CASE("a hook that returns another size, dtype or layout is an error that names what it got and returned") {
  const auto check = [](const autograd::TensorHook& hook, const char* returned) {
    const Tensor t = leaf(), middle = t * 3;
    for (const Tensor& hooked : {t, middle}) {
      const auto id = register_hook(hooked, hook);
      const auto pass = [&] { backward(sum(middle), {}, {.retain_graph = true}); };
      CHECK_THROWS_WITH(pass(), Catch::Contains("a tensor hook got a gradient float32 [3, 3] and returned ") &&
                                    Catch::Contains(returned) && Catch::Contains("must return one of the same size"));
      CHECK_FALSE(grad(t).defined());
      autograd::remove_hook(hooked, id);
    }
    backward(sum(middle));
    CHECK(equal(grad(t), full({3, 3}, 3.0)));
  };
  check([](const Tensor&) { return ones({2, 2}); }, "float32 [2, 2]");
  check([](const Tensor&) { return ones({1, 3}); }, "float32 [1, 3]");
  check([](const Tensor& gradient) { return to(gradient, DType::F64); }, "float64 [3, 3]");
  check([](const Tensor& gradient) { return to(gradient, DType::I64); }, "int64 [3, 3]");
  check([](const Tensor& gradient) { return tensor::empty_sparse(gradient.sizes(), gradient.options(), 1); },
        "sparse float32 [3, 3]");
  CHECK_THROWS_WITH(register_hook(leaf(), {}), Catch::Contains("empty function"));
}

TEST_CASE("a hook that is added or removed while hooks run takes effect in the next run") {
  const Tensor t = leaf();
  int first = 0, second = 0;
  autograd::HookId own{};
  own = register_hook(t, [&](const Tensor&) {
    ++first;
    autograd::remove_hook(t, own);
    register_hook(t, [&second](const Tensor& gradient) {
      ++second;
      return gradient * 2;
    });
    return Tensor();
  });
  backward(sum(t));
  CHECK(first == 1);
  CHECK(second == 0);
  backward(sum(t));
  CHECK(first == 1);
  CHECK(second == 1);
  CHECK(equal(grad(t), full({3, 3}, 3.0)));
}

TEST_CASE("a hook that does not belong to the tensor is not removed") {
  const Tensor a = leaf(), b = a * 2;
  int calls = 0;
  const auto of_leaf = register_hook(a, [&calls](const Tensor& gradient) {
    ++calls;
    return gradient;
  });
  autograd::remove_hook(b, of_leaf);
  backward(sum(b));
  CHECK(calls == 1);
}

TEST_CASE(
    "a hook is removed from a tensor that was changed in place since, and from a leaf that requires none for now") {
  const Tensor a = leaf(), b = a * 1;
  int calls = 0;
  const auto counting = [&calls](const Tensor& gradient) {
    ++calls;
    return gradient;
  };
  const auto of_leaf = register_hook(a, counting), of_middle = register_hook(b, counting);
  mul_(b, 2);
  add_(b, 1);
  backward(sum(b), {}, {.retain_graph = true});
  CHECK(calls == 2);
  autograd::remove_hook(b, of_middle);
  set_requires_grad(a, false);
  autograd::remove_hook(a, of_leaf);
  set_requires_grad(a);
  autograd::remove_hook(a, of_leaf);
  backward(sum(b));
  CHECK(calls == 2);
}

TEST_CASE("a leaf that no longer requires a gradient gets none from graphs that have it, until it requires one again") {
  const Tensor w = leaf({3}), v = leaf({3});
  int hooked = 0, after = 0;
  register_hook(w, [&hooked](const Tensor& gradient) {
    ++hooked;
    return gradient;
  });
  autograd::gradient_edge(w).node->add_post_hook([&after](TensorList results, const TensorList&) {
    ++after;
    return results;
  });
  const Tensor loss = sum(w * v);
  set_requires_grad(w, false);
  backward(loss, {}, {.retain_graph = true});
  CHECK_FALSE(grad(w).defined());
  CHECK(equal(grad(v), ones({3})));
  CHECK(hooked == 0);
  CHECK(after == 1);
  CHECK_THROWS_WITH(gradients({loss}, {w}), Catch::Contains("does not require grad"));
  set_requires_grad(w);
  backward(loss, {}, {.retain_graph = true});
  CHECK(equal(grad(w), ones({3})));
  CHECK(hooked == 1);
  set_requires_grad(w, false);
  backward(loss);  // the existing gradient stays
  CHECK(equal(grad(w), ones({3})));
  CHECK(equal(grad(v), full({3}, 3.0)));
}

TEST_CASE("a leaf that no longer requires a gradient gets none in the map of a pass either") {
  const Tensor w = leaf({3}), v = leaf({3});
  const Tensor loss = sum(w * v);
  set_requires_grad(w, false);
  autograd::GradientMap map;
  const auto task = tensor::make_ref<autograd::GraphTask>(autograd::PassOptions{.leaves = &map});
  task->add_root(autograd::gradient_edge(loss), ones({}));
  task->run();
  CHECK(map.size() == 1);
  CHECK(equal(map.find(v), ones({3})));
}

TEST_CASE("nothing is recorded without grad mode, without a leaf that requires a gradient, and for integers") {
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

TEST_CASE("gradients accumulate until they are cleared") {
  const Tensor a = leaf();
  for (int pass = 1; pass <= 3; ++pass) {
    backward(sum(a * 2));
    CHECK(equal(grad(a), full({3, 3}, 2.0 * pass)));
  }
  set_grad(a, {});
  CHECK_FALSE(grad(a).defined());
  CHECK_THROWS_WITH(set_grad(a, ones({2})), Catch::Contains("size is [2]"));
  CHECK_THROWS_WITH(set_grad(a, ones({3, 3}, {DType::F64})), Catch::Contains("dtype is float64, the tensor's float32"));
  CHECK_THROWS_WITH(set_grad(a, a), Catch::Contains("cannot be its own gradient"));
  CHECK_THROWS_WITH(set_grad({}, a), Catch::Contains("undefined"));
  CHECK_FALSE(grad({}).defined());
}

TEST_CASE("a node that is referenced keeps its leaf, and a leaf has the same node all its life") {
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

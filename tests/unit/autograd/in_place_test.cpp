#include <catch2/catch.hpp>

#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>

#include "unit/autograd/leaf.hpp"

namespace distrun {
namespace {

using testing::leaf;

}  // namespace

TEST_CASE("a leaf, and a view of one, cannot be changed in place while recording") {
  const Tensor a = leaf();
  CHECK_THROWS_WITH(add_(a, 1),
                    Catch::Contains("a leaf Variable that requires grad is being used in an in-place operation."));
  CHECK_THROWS_WITH(add_(select(a, 0, 0), 1), Catch::Contains("a view of a leaf Variable that requires grad"));
  CHECK(equal(a, ones({3, 3})));
  const NoGradGuard guard;
  add_(a, 1);
  CHECK(equal(a, full({3, 3}, 2.0)));
  CHECK(is_leaf(a));
}

TEST_CASE("a formula notices that a tensor it saved was changed") {
  const Tensor a = leaf();
  const Tensor b = a * 2;
  const Tensor product = b * b;
  add_(b, 1);
  CHECK_THROWS_WITH(backward(sum(product)),
                    Catch::StartsWith("one of the variables needed for gradient computation has been modified by an "
                                      "inplace operation: float32 [3, 3], output 0 of AddBackward0, is at version 1; "
                                      "MulBackward0 expected version 0"));
}

TEST_CASE("a formula notices that its own result was changed") {
  const Tensor a = leaf();
  const Tensor result = sigmoid(a);
  mul_(result, 2);
  CHECK_THROWS_WITH(backward(sum(result)),
                    Catch::Contains("a result of SigmoidBackward0") && Catch::Contains("expected version 0"));
}

TEST_CASE("tensors that were not saved may be changed") {
  const Tensor a = leaf();
  const Tensor b = a * 2;
  const Tensor total = b + b;
  add_(b, 1);
  backward(sum(total));
  CHECK(equal(grad(a), full({3, 3}, 4.0)));
}

TEST_CASE("a tensor without a gradient requires one when a tensor that has one is added to it") {
  const Tensor a = leaf();
  const Tensor total = zeros({3, 3});
  add_(total, a);
  CHECK(requires_grad(total));
  CHECK(grad_fn(total)->name() == "AddBackward0");
  backward(sum(total));
  CHECK(equal(grad(a), ones({3, 3})));
}

TEST_CASE("a change of a view gives its base a history, and the view another") {
  const Tensor a = leaf({3});
  const Tensor base = zeros({3, 3});
  const Tensor row = select(base, 0, 1);
  CHECK_FALSE(requires_grad(row));
  copy_(row, a);
  CHECK(grad_fn(base)->name() == "torch::autograd::CopySlices");
  CHECK(grad_fn(row)->name() == "AsStridedBackward0");
  backward(sum(base * base));
  CHECK(equal(grad(a), full({3}, 2.0)));
}

TEST_CASE("a view that was created without recording cannot be changed while recording") {
  const Tensor base = leaf() * 1;
  Tensor row;
  {
    const NoGradGuard guard;
    row = select(base, 0, 0);
  }
  CHECK_THROWS_WITH(add_(row, 1), Catch::Contains("A view was created in no_grad mode"));
}

TEST_CASE("a view that was created without recording requires no gradient, however its base is changed") {
  const Tensor a = leaf({4}), base = a * 1;
  Tensor of_leaf, of_base;
  {
    const NoGradGuard guard;
    of_leaf = narrow(a, 0, 0, 2);
    of_base = narrow(base, 0, 0, 2);
    add_(a, 1);
  }
  mul_(base, 2);
  CHECK_FALSE(requires_grad(of_leaf));
  CHECK_FALSE(requires_grad(of_base));
  CHECK_FALSE(requires_grad(sum(of_base * 3)));
  backward(sum(base));
  CHECK(equal(grad(a), full({4}, 2.0)));
}

TEST_CASE("a view that has become a leaf is not changed through another view") {
  const Tensor base = zeros({2, 2});
  const Tensor row = set_requires_grad(select(base, 0, 0));
  CHECK_THROWS_WITH(fill_(view(row, {2}), 1), Catch::Contains("a view of a leaf Variable that requires grad"));
  CHECK(is_leaf(row));
}

TEST_CASE("a view that changes nothing is a separate tensor") {
  const Tensor a = zeros({2, 3});
  for (const Tensor& same : {expand(a, {2, 3}), expand(a, {-1, 3}), squeeze(a, 0)}) {
    CHECK_FALSE(same.is_same(a));
    set_requires_grad(same);
    CHECK_FALSE(requires_grad(a));
  }
  CHECK(grad_fn(expand(leaf({2}), {2}))->name() == "ExpandBackward0");
  CHECK(grad_fn(squeeze(leaf({2}), 0))->name() == "SqueezeBackward1");
}

TEST_CASE("detached tensors share bytes and version, and no history") {
  const Tensor a = leaf();
  const Tensor b = a * 2;
  const Tensor product = b * b;
  const Tensor same = detach(b);
  CHECK_FALSE(requires_grad(same));
  add_(same, 1);
  CHECK_THROWS_WITH(backward(sum(product)), Catch::Contains("modified by an inplace operation"));
}

TEST_CASE("a tensor divided by itself in place keeps what its gradient needs") {
  const Tensor a = leaf();
  const Tensor b = a * 3;
  div_(b, b);
  backward(sum(b));
  CHECK(equal(b, ones({3, 3})));
  CHECK(equal(grad(a), zeros({3, 3})));
}

TEST_CASE("the pieces of a split may be changed in place") {
  const Tensor a = leaf({4});
  const Tensor b = a * 1;
  const TensorList pieces = split(b, 2);
  mul_(pieces[0], 3);
  backward(sum(b));
  CHECK(tensor::to_vector<float>(grad(a)) == std::vector<float>{3, 3, 1, 1});
}

TEST_CASE("an undefined tensor cannot be changed in place, and no tensor by one") {
  const Tensor none, a = leaf() * 1;
  CHECK_THROWS_WITH(add_(none, 1), Catch::Contains("add_: a tensor is required, but one is undefined"));
  CHECK_THROWS_WITH(mul_(none, a), Catch::Contains("mul_: a tensor is required"));
  CHECK_THROWS_WITH(copy_(none, a), Catch::Contains("copy_: a tensor is required"));
  CHECK_THROWS_WITH(fill_(none, 1), Catch::Contains("fill_: a tensor is required"));
  CHECK_THROWS_WITH(div_(a, none), Catch::Contains("div_: a tensor is required"));
  CHECK(grad_fn(a)->name() == "MulBackward0");
  CHECK(a.version() == 0);
}

TEST_CASE("a linear layer, a chain of products and a batch of them are one node") {
  const auto name = [](const Tensor& tensor) { return grad_fn(tensor)->name(); };
  const auto next_is_leaf = [](const Tensor& tensor) { return grad_fn(tensor)->next_edges()[0].node->name(); };
  const Tensor a = leaf();
  const Tensor batch = leaf({2, 3, 3});
  for (const Tensor& result : {linear(a, a), multi_dot({a, a, a}), matmul(batch, batch)}) {
    INFO(name(result));
    CHECK(next_is_leaf(result) == "torch::autograd::AccumulateGrad");
  }
}
}  // namespace distrun

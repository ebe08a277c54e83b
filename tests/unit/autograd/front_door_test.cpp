// Tensor code as users write it, with the one header that they include.
#include <distrun/tensors.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <sstream>

#include <distrun/common/base/error.hpp>

namespace distrun::test {
namespace {

template <class T>
std::string shown(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

bool is_all(const Tensor& tensor) { return all(tensor).item<bool>(); }

}  // namespace

TEST_CASE("compound operators change a tensor in place, and all handles and views see it") {
  Tensor x = ones({2, 3});
  const Tensor same = x, row = select(x, 0, 1);
  x += 2;
  x *= from_values({1.F, 2.F, 3.F});
  x -= ones({2, 3});
  x /= 2;
  CHECK(to_vector<float>(row) == std::vector<float>{1, 2.5, 4});
  CHECK(same.is_same(x));
  row += 1;
  CHECK(x[1][2].item<float>() == 5);
}

TEST_CASE("in-place operators are recorded") {
  const Tensor w = set_requires_grad(from_values({2.F, 3.F}));
  Tensor y = w * w;
  y *= 3;
  y -= w;
  backward(sum(y));
  CHECK(to_vector<float>(grad(w)) == std::vector<float>{11, 17});
}

TEST_CASE("comparison operators compare tensors with tensors and numbers") {
  const Tensor x = from_values({1, 2, 3}), y = from_values({3, 2, 1});
  CHECK(equal(x == y, from_values<bool>({false, true, false})));
  CHECK(equal(x != y, from_values<bool>({true, false, true})));
  CHECK(equal(x < y, from_values<bool>({true, false, false})));
  CHECK(equal(x <= y, from_values<bool>({true, true, false})));
  CHECK(equal(x > 2, from_values<bool>({false, false, true})));
  CHECK(equal(x >= 2, from_values<bool>({false, true, true})));
  CHECK(equal(2 > x, from_values<bool>({true, false, false})));
  CHECK(equal(2 <= x, from_values<bool>({false, true, true})));
  CHECK(equal(2 == x, x == 2));
  CHECK(equal(-x, from_values({-1, -2, -3})));
  CHECK(is_all(x == x));
}

TEST_CASE("an index selects elements, and the selection can be assigned to") {
  const Tensor x = zeros({2, 3});
  x[0] = from_values({1.F, 2.F, 3.F});
  x[1] = 7;
  x[1][0] += 1;
  x[-1][-1] = 0.5;
  CHECK(to_vector<float>(x) == std::vector<float>{1, 2, 3, 8, 7, 0.5});
  CHECK_THROWS_AS(x[2], Error);
  Tensor name = x[0];
  name = x[1];  // rebinds the name; nothing is written
  CHECK(x[0][0].item<float>() == 1);
  CHECK(name[0].item<float>() == 8);
}

TEST_CASE("methods are the operators of their names") {
  const Tensor x = from_values({1.F, -2.F, 3.F, -4.F, 5.F, -6.F}, {2, 3});
  CHECK(equal(x.view({3, 2}), view(x, {3, 2})));
  CHECK(equal(x.t().contiguous(), contiguous(t(x))));
  CHECK(equal(x.add(1).mul(x).sub(x, 2).div(2), div(sub(mul(add(x, 1), x), x, 2), 2)));
  CHECK(equal(x.relu().sqrt().exp(), exp(sqrt(relu(x)))));
  CHECK(equal(x.abs().log().tanh(), tanh(log(abs(x)))));
  CHECK(equal(x.clamp(-1, 2), clamp(x, -1, 2)));
  CHECK(equal(x.pow(2), x * x));
  CHECK(equal(x.matmul(x.transpose(0, 1)), matmul(x, t(x))));
  CHECK(equal(x.reshape({-1}).narrow(0, 1, 2), from_values({-2.F, 3.F})));
  CHECK(x.split(2, 1).size() == 2);
  CHECK(x.to(F64).dtype() == F64);
  CHECK(x.gt(0).dtype() == Bool);
  CHECK(x.sum().item<float>() == -3);
  CHECK(equal(x.sum(0), sum(x, {0})));
  CHECK(equal(x.sum({0, 1}), sum(x)));
  CHECK(equal(x.mean(1, true), mean(x, 1, true)));
  CHECK(x.max().item<float>() == 5);
  CHECK(x.argmax().item<std::int64_t>() == 4);
  CHECK(equal(x.softmax(1), softmax(x, 1)));
  const Tensor copy = x.clone();
  CHECK(copy.add_(1).is_same(copy));
  CHECK(is_all(copy.zero_() == 0));
}

TEST_CASE("gradients can be requested by methods, too") {
  const Tensor w = ones({3}).set_requires_grad();
  CHECK(w.requires_grad());
  CHECK(w.is_leaf());
  (w * w).sum().backward();
  CHECK(to_vector<float>(w.grad()) == std::vector<float>{2, 2, 2});
  CHECK_FALSE((w * 2).detach().requires_grad());
  const NoGradGuard guard;
  CHECK_FALSE((w * 2).requires_grad());
}

TEST_CASE("common overloads compile and mean what they look like") {
  CHECK(ones({2}, F64).dtype() == F64);
  CHECK(zeros({2}, I64).dtype() == I64);
  CHECK(full({2}, true, Bool).dtype() == Bool);
  CHECK(rand({2}, F64).dtype() == F64);
  CHECK(randn({2}, device::kCpu).dtype() == F32);
  CHECK(zeros({2}, {.dtype = U8}).dtype() == U8);
  CHECK(from_values({1.F}, {}).dim() == 0);
  CHECK(from_values({1.F}).dim() == 1);
  CHECK(from_values({1, 2}, {2, 1}).dim() == 2);
  const Tensor x = ones({2, 3});
  CHECK(sum(x, 0).sizes() == Dims{3});
  CHECK(sum(x, {}).sizes() == Dims{});
  CHECK(sum(x, {0, 1}).sizes() == Dims{});
  CHECK(sum(x, -1, true).sizes() == Dims{2, 1});
  CHECK(mean(x, 0).sizes() == Dims{3});
}

TEST_CASE("sizes, dtypes and devices can be written to streams") {
  const Tensor x = ones({2, 3}, I32);
  CHECK(shown(x.sizes()) == "[2, 3]");
  CHECK(shown(x.dtype()) == "int32");
  CHECK(shown(x.device()) == "cpu");
  CHECK(name_of(x.dtype()) == "int32");
}

TEST_CASE("the printed text says whether a tensor requires a gradient, and where it comes from") {
  const Tensor w = set_requires_grad(ones({2}));
  CHECK(shown(w) == "tensor([1., 1.], requires_grad=true)");
  CHECK(shown(w * 2) == "tensor([2., 2.], grad_fn=<MulBackward0>)");
  CHECK(shown(clone(to(w, F64))) == "tensor([1., 1.], dtype=float64, grad_fn=<CloneBackward0>)");
  CHECK(shown(detach(w)) == "tensor([1., 1.])");
  const Tensor y = w * 3, part = y[0];
  y += 1;  // recreates the view's node in the graph
  CHECK(shown(part).find("grad_fn=<") != std::string::npos);
}

TEST_CASE("a hook can be named and removed") {
  const Tensor w = set_requires_grad(ones({1}));
  int calls = 0;
  const HookId hook = register_hook(w, [&calls](const Tensor&) {
    ++calls;
    return Tensor();
  });
  (w * 2).backward();
  autograd::remove_hook(w, hook);
  (w * 2).backward();
  CHECK(calls == 1);
}

TEST_CASE("tensors in containers are moved and swapped as handles") {
  const Tensor a = from_values({1.F}), b = from_values({2.F});
  std::vector<Tensor> tensors{a, b};
  std::swap(tensors[0], tensors[1]);
  std::reverse(tensors.begin(), tensors.end());
  std::rotate(tensors.begin(), tensors.begin() + 1, tensors.end());
  tensors.erase(tensors.begin());
  CHECK(tensors.front().is_same(a));
  CHECK(a[0].item<float>() == 1);
  CHECK(b[0].item<float>() == 2);
}

}  // namespace distrun::test

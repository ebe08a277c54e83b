#include <catch2/catch.hpp>

#include <limits>

#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>

#include "gradient_cases.hpp"

namespace distrun::test {
namespace {

Tensor leaf_of(std::initializer_list<double> values) { return set_requires_grad(tensor::from_values(values)); }
std::vector<double> doubles_in(const Tensor& tensor) { return tensor::to_vector<double>(tensor); }

}  // namespace

Cases elementwise_cases() {
  return {
      {"add", binary([](auto& a, auto& b) { return a + b; })},
      {"add with alpha", binary([](auto& a, auto& b) { return add(a, b, 2.5); })},
      {"add a number", unary([](auto& a) { return add(a, 3, 2) + 1 + a; })},
      {"sub", binary([](auto& a, auto& b) { return a - b; })},
      {"sub with alpha", binary([](auto& a, auto& b) { return sub(a, b, 0.5); })},
      {"sub a number", unary([](auto& a) { return sub(a, 3) * (2 - a); })},
      {"mul", binary([](auto& a, auto& b) { return a * b; })},
      {"mul with itself", unary([](auto& a) { return a * a; })},
      {"mul by a number", unary([](auto& a) { return 2 * a * 1.5; })},
      {"div", binary([](auto& a, auto& b) { return a / b; })},
      {"div by a number", unary([](auto& a) { return a / 4; })},
      {"a number by div", unary([](auto& a) { return 3 / a; })},
      {"neg", unary([](auto& a) { return -a; })},
      {"cos", unary([](auto& a) { return cos(a); })},
      {"sin", unary([](auto& a) { return sin(a); })},
      {"sigmoid", unary([](auto& a) { return sigmoid(a); })},
      {"relu", unary([](auto& a) { return relu(a); })},
      {"clamp_min", unary([](auto& a) { return clamp_min(a, -0.1); })},
      {"clamp_max", unary([](auto& a) { return clamp_max(a, 0.1); })},
      {"clamp", unary([](auto& a) { return clamp(a, -0.5, 0.9); })},
      {"clamp from below", unary([](auto& a) { return clamp(a, 0.1); })},
      {"clamp from above", unary([](auto& a) { return clamp(a, {}, 0.1); })},
      {"exp", unary([](auto& a) { return exp(a); })},
      {"log", unary([](auto& a) { return log(abs(a)); })},
      {"tanh", unary([](auto& a) { return tanh(a); })},
      {"sqrt", unary([](auto& a) { return sqrt(abs(a)); })},
      {"rsqrt", unary([](auto& a) { return rsqrt(abs(a)); })},
      {"reciprocal", unary([](auto& a) { return reciprocal(a); })},
      {"square", unary([](auto& a) { return square(a); })},
      {"pow", binary([](auto& a, auto& b) { return pow(abs(a), b); })},
      {"pow of a number", unary([](auto& a) { return pow(2.5, a); })},
      {"pow with a fraction", unary([](auto& a) { return pow(abs(a), 0.7) + pow(abs(a), 0.5); })},
      {"pow with whole numbers", unary([](auto& a) { return pow(a, 3) + pow(a, -1) + pow(a, 2) + pow(a, 5); })},
      {"pow with 0 and 1", unary([](auto& a) { return pow(a, 0) + pow(a, 1); })},
      {"maximum", binary([](auto& a, auto& b) { return maximum(a, b); })},
      {"minimum", binary([](auto& a, auto& b) { return minimum(a, b); })},
      {"where", binary([](auto& a, auto& b) { return where(tensor::gt(a, 0), a, b * b); })},
      {"where with numbers",
       unary([](auto& a) { return where(tensor::gt(a, 0), 3, a) + where(tensor::lt(a, 1), a * a, 2); })},
      {"dropout", unary([](auto& a) { return manual_seed(1), dropout(a * a, 0.3); })},
  };
}

Cases in_place_cases() {
  return {
      {"add_", in_place([](auto& a, auto& b) { add_(a, b, 2); })},
      {"add_ a number", in_place([](auto& a, auto& b) { add_(a, 1.5), add_(a, b); })},
      {"sub_", in_place([](auto& a, auto& b) { sub_(a, b, 3); })},
      {"sub_ a number", in_place([](auto& a, auto& b) { sub_(a, 2), sub_(a, b); })},
      {"mul_", in_place([](auto& a, auto& b) { mul_(a, b); })},
      {"mul_ with itself", in_place([](auto& a, auto& b) { mul_(a, b), mul_(a, a); })},
      {"mul_ by a number", in_place([](auto& a, auto& b) { mul_(a, b), mul_(a, -2); })},
      {"div_", in_place([](auto& a, auto& b) { div_(a, b); })},
      {"div_ by a number", in_place([](auto& a, auto& b) { mul_(a, b), div_(a, -2); })},
      {"pow_", in_place([](auto& a, auto& b) { abs_(a), pow_(a, b); })},
      {"pow_ with itself", in_place([](auto& a, auto& b) { mul_(a, b), abs_(a), pow_(a, a); })},
      {"pow_ with a number", in_place([](auto& a, auto& b) { mul_(a, b), pow_(a, 2), pow_(a, 1.7); })},
      {"neg_", in_place([](auto& a, auto& b) { mul_(a, b), neg_(a); })},
      {"exp_", in_place([](auto& a, auto& b) { mul_(a, b), exp_(a); })},
      {"exp_ of a view", in_place([](auto& a, auto& b) { mul_(a, b), exp_(view(a, {-1})); })},
      {"square of a view", in_place([](auto& a, auto& b) { mul_(a, b), pow_(view(a, {-1}), 2); })},
      {"tanh_", in_place([](auto& a, auto& b) { mul_(a, b), tanh_(a); })},
      {"sigmoid_", in_place([](auto& a, auto& b) { mul_(a, b), sigmoid_(a); })},
      {"abs_", in_place([](auto& a, auto& b) { mul_(a, b), abs_(a); })},
      {"sqrt_", in_place([](auto& a, auto& b) { mul_(a, b), abs_(a), sqrt_(a); })},
      {"relu_", in_place([](auto& a, auto& b) { mul_(a, b), relu_(a); })},
      {"clamp_min_", in_place([](auto& a, auto& b) { clamp_min_(a, -0.1), mul_(a, b); })},
      {"clamp_max_", in_place([](auto& a, auto& b) { clamp_max_(a, 0.1), mul_(a, b); })},
      {"clamp_", in_place([](auto& a, auto& b) { clamp_(a, -0.5, 0.9), mul_(a, b); })},
      {"fill_", in_place([](auto& a, auto& b) { fill_(a, 2), mul_(a, b); })},
      {"zero_", in_place([](auto& a, auto& b) { zero_(a), add_(a, b); })},
      {"copy_", in_place([](auto& a, auto& b) { copy_(a, b); })},
  };
}

TEST_CASE("gradients of elementwise operators are those of central differences") {
  check_on_all_devices(elementwise_cases());
}
TEST_CASE("gradients of in-place operators are those of central differences") {
  check_on_all_devices(in_place_cases());
}

TEST_CASE("equal elements each get half of the gradient of minimum and maximum") {
  const Tensor a = leaf_of({1, 2, 5}), b = leaf_of({1, 3, 4});
  backward(sum(maximum(a, b)));
  CHECK(doubles_in(grad(a)) == std::vector<double>{0.5, 0, 1});
  CHECK(doubles_in(grad(b)) == std::vector<double>{0.5, 1, 0});
  backward(sum(minimum(a, b)));
  CHECK(doubles_in(grad(a)) == std::vector<double>{1, 1, 1});
  CHECK(doubles_in(grad(b)) == std::vector<double>{1, 1, 1});
}

TEST_CASE("gradients at corners and poles are the conventional ones") {
  const Tensor zero = leaf_of({0, 0});
  const auto of = [&](const Tensor& result) {
    return doubles_in(gradients({result}, {zero}, {tensor::ones_like(result)})[0]);
  };
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(of(abs(zero)) == std::vector<double>{0, 0});
  CHECK(of(sqrt(zero)) == std::vector<double>{infinity, infinity});
  CHECK(of(pow(zero, 0)) == std::vector<double>{0, 0});
  CHECK(of(pow(zero, 1)) == std::vector<double>{1, 1});
  CHECK(of(pow(zero, tensor::full({2}, 0, {DType::F64}))) == std::vector<double>{0, 0});
  CHECK(of(pow(0, zero)) == std::vector<double>{0, 0});
  CHECK(of(pow(tensor::full({2}, 0, {DType::F64}), zero)) == std::vector<double>{0, 0});
  CHECK(of(clamp(zero, 0, 0)) == std::vector<double>{1, 1});
  CHECK(of(clamp(zero, 1, 2)) == std::vector<double>{0, 0});
}

TEST_CASE("dropout's gradient passes where its elements have passed, scaled alike") {
  manual_seed(5);
  const Tensor a = set_requires_grad(tensor::ones({1000}));
  const Tensor result = dropout(a, 0.75);
  backward(sum(result));
  CHECK(equal(grad(a), result));
  CHECK(is_leaf(dropout(a, 0.75, false)));
  CHECK(dropout(a, 0.5, false).is_same(a));
  CHECK(dropout(a, 0).is_same(a));
}

}  // namespace distrun::test

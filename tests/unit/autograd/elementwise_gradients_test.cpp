#include <catch2/catch.hpp>

#include "gradient_cases.hpp"

namespace distrun::test {

Cases elementwise_cases() {
  return {
      {"add", binary([](auto& a, auto& b) { return a + b; })},
      {"add with alpha", binary([](auto& a, auto& b) { return add(a, b, 2.5); })},
      {"add a number", unary([](auto& a) { return add(a, 3, 2) + 1 + a; })},
      {"sub", binary([](auto& a, auto& b) { return a - b; })},
      {"sub with alpha", binary([](auto& a, auto& b) { return sub(a, b, 0.5); })},
      {"sub a number", unary([](auto& a) { return sub(a, 3) * (2 - a); })},
      {"mul", binary([](auto& a, auto& b) { return a * b; })},
      {"mul by itself", unary([](auto& a) { return a * a; })},
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
  };
}

Cases in_place_cases() {
  return {
      {"add_", in_place([](auto& a, auto& b) { add_(a, b, 2); })},
      {"add_ a number", in_place([](auto& a, auto& b) { add_(a, 1.5), add_(a, b); })},
      {"sub_", in_place([](auto& a, auto& b) { sub_(a, b, 3); })},
      {"sub_ a number", in_place([](auto& a, auto& b) { sub_(a, 2), sub_(a, b); })},
      {"mul_", in_place([](auto& a, auto& b) { mul_(a, b); })},
      {"mul_ by itself", in_place([](auto& a, auto& b) { mul_(a, b), mul_(a, a); })},
      {"mul_ by a number", in_place([](auto& a, auto& b) { mul_(a, b), mul_(a, -2); })},
      {"div_", in_place([](auto& a, auto& b) { div_(a, b); })},
      {"div_ by a number", in_place([](auto& a, auto& b) { mul_(a, b), div_(a, -2); })},
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

}  // namespace distrun::test

// Undefined tensors in functions outside the operator table, which users call only in C++.
#include <catch2/catch.hpp>

#include <functional>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>

#include "support/error_of.hpp"

namespace distrun {

TEST_CASE("operators outside the table refuse undefined tensors") {
  const Tensor none, square = ones({2, 2}), numbers = tensor::from_values<std::int64_t>({0, 1});
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"set_requires_grad", [&] { set_requires_grad(none); }},
      {"set_grad", [&] { set_grad(none, square); }},
      {"detach", [&] { detach(none); }},
      {"backward", [&] { backward(none); }},
      {"gradients of none", [&] { gradients({none}, {set_requires_grad(ones({}))}); }},
      {"to a dtype", [&] { to(none, DType::F64); }},
      {"indices", [&] { indices(none); }},
      {"values", [&] { values(none); }},
      {"embedding_bag without indices",
       [&] {
         embedding_bag(square, Bags{none, numbers, BagMode::Sum, none});
       }},
      {"embedding_bag without offsets",
       [&] {
         embedding_bag(square, Bags{numbers, none, BagMode::Sum, none});
       }},
      {"batch_norm of no moments", [&] { batch_norm(square, tensor::Moments{}, none, none, 0, {}); }},
  };
  for (const auto& [name, call] : calls) {
    INFO(name);
    CHECK_THAT(testing::error_of(call).what(), Catch::Matchers::Contains("undefined"));
  }
  CHECK_THROWS_AS(gradients({set_requires_grad(ones({}))}, {none}), Error);
  CHECK_THROWS_AS(register_hook(none, [](const Tensor& gradient) { return gradient; }), Error);
  CHECK_FALSE(grad(none).defined());
  CHECK_FALSE(requires_grad(none));
}

}  // namespace distrun

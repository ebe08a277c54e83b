#include <catch2/catch.hpp>

#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>

#include "gradient_cases.hpp"

namespace distrun::test {
namespace {

// A case with a nonempty matrix.
MakeCase of_matrix(std::function<Tensor(const Tensor&)> function) {
  return sized(
      [](auto n, auto k, auto, auto) {
        return Sizes{{n + 1, k + 1}};
      },
      [function](auto& in) { return one(function(in[0])); });
}
// A case with three dimensions and several elements in each.
MakeCase of_block(std::function<Tensor(const Tensor&)> function) {
  return sized(
      [](auto n, auto k, auto m, auto) {
        return Sizes{{n + 2, k + 2, m + 2}};
      },
      [function](auto& in) { return one(function(in[0])); });
}

// Returns an int64 tensor with numbers below `count`, the same each time.
Tensor numbers_like(const Dims& sizes, std::int64_t count, Device device) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < device::count_of(sizes); ++i) numbers.push_back(i * 5 % count);
  return to(tensor::from_values<std::int64_t>(numbers, sizes), device);
}

}  // namespace

Cases extreme_cases() {
  return {
      {"max", of_matrix([](auto& a) { return max(a); })},
      {"min", of_matrix([](auto& a) { return min(a); })},
      {"max along a dimension", of_matrix([](auto& a) { return max(a, 0).values; })},
      {"max along the last, which stays", of_block([](auto& a) { return max(a, -1, true).values; })},
      {"min along a dimension", of_block([](auto& a) { return min(a, 1).values; })},
      {"amax over dimensions apart", of_block([](auto& a) {
         return amax(a, {0, 2});
       })},
      {"amax over one that stays", of_block([](auto& a) { return amax(a, 1, true); })},
      {"amin", of_block([](auto& a) { return amin(a); })},
  };
}

Cases statistics_cases() {
  return {
      {"mean over a dimension", of_matrix([](auto& a) { return mean(a, 0); })},
      {"mean over dimensions that stay", of_block([](auto& a) {
         return mean(a, {0, 2}, true);
       })},
      {"var", of_block([](auto& a) { return var(a); })},
      {"var, biased, over a dimension", of_block([](auto& a) { return var(a, 1, false); })},
      {"std over dimensions apart", of_block([](auto& a) {
         return standard_deviation(a, {0, 2});
       })},
      {"std of all", of_block([](auto& a) { return standard_deviation(a, false); })},
      {"norm", of_matrix([](auto& a) { return norm(a); })},
      {"norm along a dimension", of_block([](auto& a) { return norm(a, 2, 1, true); })},
      {"norm of sizes", of_block([](auto& a) {
         return norm(a, 1, {0, 2});
       })},
      {"norm of the largest size", of_block([](auto& a) { return norm(a, INFINITY, -1); })},
      {"cumsum", unary([](auto& a) { return cumsum(a, 0); })},
      {"cumsum along the last dimension", unary([](auto& a) { return cumsum(a, -1); }, 1)},
      {"prod", of_matrix([](auto& a) { return prod(a); })},
      {"prod along a dimension", of_block([](auto& a) { return prod(a, 1); })},
      {"prod along one that stays", unary([](auto& a) { return prod(a, -1, true); }, 1)},
  };
}

Cases indexing_cases() {
  return {
      {"gather", of_block([](auto& a) {
         return gather(a, 1, numbers_like({a.size(0) - 1, 5, a.size(2)}, a.size(1), a.device()));
       })},
      {"gather along the last dimension", of_matrix([](auto& a) {
         return gather(a, -1, numbers_like({a.size(0), 3}, a.size(1), a.device()));
       })},
      {"scatter_add", sized(
                          [](auto n, auto k, auto, auto) {
                            return Sizes{{n + 1, k + 1}, {n + 3, k + 2}};
                          },
                          [](auto& in) {
                            const Dims spoken_of{in[0].size(0) + 1, in[0].size(1)};
                            const Tensor index = numbers_like(spoken_of, in[0].size(0), in[0].device());
                            return one(scatter_add(in[0], 0, index, in[1]));
                          })},
      {"scatter_add in place", sized(
                                   [](auto n, auto k, auto, auto) {
                                     return Sizes{{n + 1, k + 1}, {n + 1, 4}};
                                   },
                                   [](auto& in) {
                                     const Tensor copy = clone(in[0]);
                                     scatter_add_(copy, 1, numbers_like(in[1].sizes(), copy.size(1), copy.device()),
                                                  in[1]);
                                     return one(copy);
                                   })},
      {"index_select", of_block([](auto& a) { return index_select(a, 1, numbers_like({6}, a.size(1), a.device())); })},
      {"index_select along the last",
       of_matrix([](auto& a) { return index_select(a, -1, numbers_like({3}, a.size(1), a.device())); })},
      {"index_add", sized(
                        [](auto n, auto k, auto m, auto) {
                          return Sizes{{n, k + 1, m}, {n, 5, m}};
                        },
                        [](auto& in) {
                          const Tensor index = numbers_like({5}, in[0].size(1), in[0].device());
                          return one(index_add(in[0], 1, index, in[1], 2));
                        })},
      {"index_add in place", sized(
                                 [](auto n, auto k, auto, auto) {
                                   return Sizes{{n + 1, k}, {4, k}};
                                 },
                                 [](auto& in) {
                                   const Tensor copy = clone(in[0]);
                                   index_add_(copy, 0, numbers_like({4}, copy.size(0), copy.device()), in[1]);
                                   return one(copy);
                                 })},
      {"masked_fill", unary([](auto& a) { return masked_fill(a, tensor::gt(a, 0), 3); })},
      {"masked_select", unary([](auto& a) { return masked_select(a, tensor::gt(a, 0)); })},
  };
}

TEST_CASE("gradients of the largest and the smallest are those of central differences") {
  check_on_all_devices(extreme_cases());
}
TEST_CASE("gradients of means, norms, sums and products along dimensions are those of central differences") {
  check_on_all_devices(statistics_cases());
}
TEST_CASE("gradients of indexing operators are those of central differences") {
  check_on_all_devices(indexing_cases());
}

TEST_CASE("the gradient of a maximum is shared by all equal elements, and along a dimension the first one gets it") {
  const Tensor x = set_requires_grad(tensor::from_values<float>({1, 3, 3, 2}));
  backward(max(x));
  CHECK(tensor::to_vector<float>(grad(x)) == std::vector<float>{0, 0.5, 0.5, 0});
  const Tensor y = set_requires_grad(tensor::from_values<float>({1, 3, 3, 2}));
  backward(max(y, 0).values);
  CHECK(tensor::to_vector<float>(grad(y)) == std::vector<float>{0, 1, 0, 0});
}

TEST_CASE("the gradient of a product with zeros, and of a norm of zeros, is a number") {
  const Tensor x = set_requires_grad(tensor::from_values<float>({0, 2, 3}));
  backward(prod(x));
  CHECK(tensor::to_vector<float>(grad(x)) == std::vector<float>{6, 0, 0});
  const Tensor zero = set_requires_grad(tensor::zeros({3}));
  backward(norm(zero));
  CHECK(tensor::to_vector<float>(grad(zero)) == std::vector<float>{0, 0, 0});
}

}  // namespace distrun::test

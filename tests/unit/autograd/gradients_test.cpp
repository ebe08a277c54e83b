// Every operator that has a gradient, in all its overloads, against central differences: over seeded random shapes with
// zero sizes, broadcasting and views, on the CPU and on a virtual device.
#include <map>

#include <catch2/catch.hpp>

#include "central_differences.hpp"

namespace distrun {
namespace {

using test::Function;
using test::RandomTensors;

struct Case {
  Function function;
  TensorList inputs;
};
using MakeCase = std::function<Case(RandomTensors&)>;
using Cases = std::map<std::string, MakeCase>;

constexpr int kSeeds = 12;

TensorList one(Tensor tensor) { return {std::move(tensor)}; }

// Of two tensors that stretch to common sizes.
MakeCase binary(std::function<Tensor(const Tensor&, const Tensor&)> function) {
  return [function](RandomTensors& random) {
    const Dims sizes = random.sizes(static_cast<std::size_t>(random.size(0, 3)));
    const bool first_is_whole = random.chance(0.5);
    const Dims other = random.narrower(sizes);
    const Function run = [function](const TensorList& in) { return one(function(in[0], in[1])); };
    return Case{run, {random.tensor(first_is_whole ? sizes : other), random.tensor(first_is_whole ? other : sizes)}};
  };
}

// The first keeps its sizes: for operators in place, on a clone.
MakeCase in_place(std::function<void(const Tensor&, const Tensor&)> function) {
  return [function](RandomTensors& random) {
    const Dims sizes = random.sizes(static_cast<std::size_t>(random.size(0, 3)));
    const Function run = [function](const TensorList& in) {
      const Tensor copy = clone(in[0]);
      function(copy, in[1]);
      return one(copy);
    };
    return Case{run, {random.tensor(sizes), random.tensor(random.narrower(sizes))}};
  };
}

MakeCase unary(std::function<Tensor(const Tensor&)> function, std::size_t least_rank = 0) {
  return [function, least_rank](RandomTensors& random) {
    const Dims sizes = random.sizes(static_cast<std::size_t>(random.size(static_cast<std::int64_t>(least_rank), 3)));
    const Function run = [function](const TensorList& in) { return one(function(in[0])); };
    return Case{run, {random.tensor(sizes)}};
  };
}

// Of tensors whose sizes are made of the same random numbers n, k, m, l.
MakeCase sized(std::function<std::vector<Dims>(std::int64_t, std::int64_t, std::int64_t, std::int64_t)> sizes,
               Function function) {
  return [sizes, function](RandomTensors& random) {
    const auto size = [&random] { return random.chance(0.05) ? 0 : random.size(1, 4); };
    TensorList inputs;
    for (const Dims& each : sizes(size(), size(), size(), size())) inputs.push_back(random.tensor(each));
    return Case{function, inputs};
  };
}

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

Cases view_cases() {
  const auto tail = [](const Tensor& a) { return narrow(a, 0, a.size(0) / 2, a.size(0) - a.size(0) / 2); };
  return {
      {"view", unary([](auto& a) { return view(clone(a), {a.numel()}); })},
      {"reshape", unary([](auto& a) { return reshape(a, {a.numel(), 1}); })},
      {"flatten", unary([](auto& a) { return flatten(a); })},
      {"expand", sized([](auto n, auto k, auto, auto) { return std::vector<Dims>{{n, 1, k}}; },
                       [](auto& in) { return one(expand(in[0], {2, -1, 3, -1})); })},
      {"transpose", unary([](auto& a) { return transpose(a, 0, -1); }, 1)},
      {"t", sized([](auto n, auto k, auto, auto) { return std::vector<Dims>{{n, k}}; },
                  [](auto& in) { return one(t(in[0])); })},
      {"permute", sized([](auto n, auto k, auto m, auto) { return std::vector<Dims>{{n, k, m}}; },
                        [](auto& in) { return one(permute(in[0], {2, 0, -2})); })},
      {"unsqueeze", unary([](auto& a) { return unsqueeze(a, -1); })},
      {"squeeze", sized([](auto n, auto k, auto, auto) { return std::vector<Dims>{{n, 1, k}}; },
                        [](auto& in) { return one(squeeze(in[0], 1)); })},
      {"narrow", unary(tail, 1)},
      {"select", sized([](auto n, auto k, auto, auto) { return std::vector<Dims>{{n, k + 1}}; },
                       [](auto& in) { return one(select(in[0], 1, -1)); })},
      {"split", sized([](auto n, auto k, auto, auto) { return std::vector<Dims>{{n, k + 1}}; },
                      [](auto& in) { return split(in[0], 2, 1); })},
      {"split by sizes", sized([](auto n, auto k, auto, auto) { return std::vector<Dims>{{k + 3, n}}; },
                               [](auto& in) { return split(in[0], Dims{1, 2, in[0].size(0) - 3}); })},
      {"clone and contiguous", unary([](auto& a) { return contiguous(clone(a)); })},
      {"to", unary([](auto& a) { return to(to(a, device::kCpu), a.device()); })},
      {"cat", sized([](auto n, auto k, auto m, auto) { return std::vector<Dims>{{n, k}, {n, m}, {n, 1}}; },
                    [](auto& in) { return one(cat(in, -1)); })},
      {"stack", sized([](auto n, auto k, auto, auto) { return std::vector<Dims>{{n, k}, {n, k}, {n, k}}; },
                      [](auto& in) { return one(stack(in, 1)); })},
  };
}

// In-place operators on views change the base, and what else was made of it.
Cases changed_view_cases() {
  const auto matrices = [](auto n, auto k, auto, auto) { return std::vector<Dims>{{n + 1, k + 1}, {k + 1}}; };
  return {
      {"a row of a clone in place", sized(matrices,
                                          [](auto& in) {
                                            const Tensor base = in[0] * 1;
                                            mul_(select(base, 0, 0), in[1]);
                                            return TensorList{base, base * base};
                                          })},
      {"a view after its base is changed", sized(matrices,
                                                 [](auto& in) {
                                                   const Tensor base = in[0] * 1;
                                                   const Tensor row = select(base, 0, 0), column = narrow(base, 1, 0, 1);
                                                   mul_(base, in[1]);
                                                   return TensorList{row, column * 2, base};
                                                 })},
      {"a view after another is changed", sized(matrices,
                                                [](auto& in) {
                                                  const Tensor base = in[0] * 1;
                                                  const Tensor turned = transpose(base, 0, 1);
                                                  add_(select(base, 0, 0), in[1], 3);
                                                  div_(narrow(turned, 0, 0, 1), 2);
                                                  return TensorList{turned, view(base, {base.numel()})};
                                                })},
      {"an expanded view after its base is changed", sized(matrices,
                                                           [](auto& in) {
                                                             const Tensor base = in[1] * 1;
                                                             const Tensor wide = expand(base, in[0].sizes());
                                                             mul_(base, 3);
                                                             return one(wide * in[0]);
                                                           })},
      {"zeros that are filled", sized(matrices,
                                      [](auto& in) {
                                        const Tensor base = zeros_like(in[0]);
                                        copy_(select(base, 0, -1), in[1]);
                                        return TensorList{base * in[0], select(base, 0, -1)};
                                      })},
  };
}

Cases reduction_cases() {
  return {
      {"sum", unary([](auto& a) { return sum(a); })},
      {"sum over a dimension", unary([](auto& a) { return sum(a, {-1}); }, 1)},
      {"sum over dimensions that stay", unary([](auto& a) { return sum(a, {0, -1}, true); }, 2)},
      {"sum over all dimensions", unary([](auto& a) { return sum(a, Dims{}, true); })},
      {"mean", sized([](auto n, auto k, auto, auto) { return std::vector<Dims>{{n + 1, k + 1}}; },
                     [](auto& in) { return one(mean(in[0])); })},
      {"mse_loss", sized([](auto n, auto k, auto, auto) { return std::vector<Dims>{{n + 1, k + 1}, {n + 1, k + 1}}; },
                         [](auto& in) { return one(mse_loss(in[0], in[1])); })},
  };
}

Cases product_cases() {
  using Sizes = std::vector<Dims>;
  const Function times = [](auto& in) { return one(matmul(in[0], in[1])); };
  const Function chain = [](auto& in) { return one(multi_dot(in)); };
  const Function layer = [](auto& in) { return one(linear(in[0], in[1], in.size() > 2 ? in[2] : Tensor())); };
  return {
      {"mm", sized([](auto n, auto k, auto m, auto) { return Sizes{{n, k}, {k, m}}; },
                   [](auto& in) { return one(mm(in[0], in[1])); })},
      {"bmm", sized([](auto n, auto k, auto m, auto l) { return Sizes{{l, n, k}, {l, k, m}}; },
                    [](auto& in) { return one(bmm(in[0], in[1])); })},
      {"matmul of vectors", sized([](auto n, auto, auto, auto) { return Sizes{{n}, {n}}; }, times)},
      {"matmul of a row", sized([](auto n, auto k, auto, auto) { return Sizes{{n}, {n, k}}; }, times)},
      {"matmul of a column", sized([](auto n, auto k, auto, auto) { return Sizes{{n, k}, {k}}; }, times)},
      {"matmul of matrices", sized([](auto n, auto k, auto m, auto) { return Sizes{{n, k}, {k, m}}; }, times)},
      {"matmul of a batch by a matrix",
       sized([](auto n, auto k, auto m, auto l) { return Sizes{{l, n, k}, {k, m}}; }, times)},
      {"matmul of a row by a batch", sized([](auto, auto k, auto m, auto l) { return Sizes{{k}, {l, k, m}}; }, times)},
      {"matmul of a batch by a column",
       sized([](auto n, auto k, auto, auto l) { return Sizes{{l, n, k}, {k}}; }, times)},
      {"matmul of batches that stretch",
       sized([](auto n, auto k, auto m, auto l) { return Sizes{{l, 1, n, k}, {2, k, m}}; }, times)},
      {"multi_dot", sized([](auto n, auto k, auto m, auto l) { return Sizes{{n, k}, {k, m}, {m, l}, {l, 2}}; }, chain)},
      {"multi_dot of two", sized([](auto n, auto k, auto m, auto) { return Sizes{{n, k}, {k, m}}; }, chain)},
      {"multi_dot between vectors", sized([](auto n, auto k, auto, auto) { return Sizes{{n}, {n, k}, {k}}; }, chain)},
      {"linear", sized([](auto n, auto k, auto m, auto) { return Sizes{{n, k}, {m, k}, {m}}; }, layer)},
      {"linear without a bias", sized([](auto n, auto k, auto m, auto) { return Sizes{{n, k}, {m, k}}; }, layer)},
      {"linear of a batch", sized([](auto n, auto k, auto m, auto l) { return Sizes{{l, n, k}, {m, k}, {m}}; }, layer)},
      {"linear of a vector", sized([](auto, auto k, auto m, auto) { return Sizes{{k}, {m, k}, {m}}; }, layer)},
  };
}

Cases image_cases() {
  using Sizes = std::vector<Dims>;
  return {
      {"conv2d", sized([](auto n, auto, auto, auto l) { return Sizes{{l, 2, n + 2, 5}, {3, 2, 2, 3}, {3}}; },
                       [](auto& in) { return one(conv2d(in[0], in[1], in[2])); })},
      {"conv2d with stride and padding",
       sized([](auto n, auto, auto, auto l) { return Sizes{{l, 1, 4, n + 3}, {2, 1, 3, 2}}; },
             [](auto& in) { return one(conv2d(in[0], in[1], {}, {{2, 1}, {1, 0}})); })},
      {"max_pool2d", sized([](auto n, auto, auto, auto l) { return Sizes{{l, 2, 4, n + 2}}; },
                           [](auto& in) { return one(max_pool2d(in[0])); })},
      {"max_pool2d with stride and padding",
       sized([](auto n, auto, auto, auto) { return Sizes{{1, 2, n + 3, 5}}; },
             [](auto& in) { return one(max_pool2d(in[0], {{3, 2}, {2, 1}, {1, 1}})); })},
  };
}

Cases embedding_cases() {
  const auto bags = [](const Tensor& like, BagMode mode, const Tensor& factors) {
    const Tensor indices = tensor::from_values<std::int64_t>({1, 2, 4, 5, 4, 3, 2, 0}, {8}, like.device());
    return Bags{indices, tensor::from_values<std::int64_t>({0, 4, 4}, {3}, like.device()), mode, factors};
  };
  const auto sizes = [](auto n, auto, auto, auto) { return std::vector<Dims>{{6, n + 1}, {8}}; };
  MakeCase table_alone = sized([](auto n, auto, auto, auto) { return std::vector<Dims>{{6, n + 1}}; }, [bags](auto& in) {
    return TensorList{embedding_bag(in[0], bags(in[0], BagMode::Mean, {})),
                      embedding_bag(in[0], bags(in[0], BagMode::Sum, {}))};
  });
  MakeCase sparse = sized([](auto n, auto, auto, auto) { return std::vector<Dims>{{6, n + 1}}; }, [bags](auto& in) {
    return one(embedding_bag(in[0], bags(in[0], BagMode::Mean, {}), true));
  });
  return {
      {"embedding_bag", table_alone},
      {"embedding_bag with a sparse gradient", sparse},
      {"embedding_bag with factors", sized(sizes,
                                           [bags](auto& in) {
                                             return one(embedding_bag(in[0], bags(in[0], BagMode::Sum, in[1])));
                                           })},
  };
}

// Of sparse tensors: the values are the input. Two have the same sizes, and share some places.
MakeCase sparse(std::function<Tensor(const Tensor&, const Tensor&)> function) {
  const auto first = [](const Tensor& values) {  // one place twice
    const auto places = tensor::from_values<std::int64_t>({0, 1, 1, 1, 2, 0, 2, 2}, {2, 4}, values.device());
    return sparse_coo(places, values, {2, 3, 2});
  };
  const auto second = [](const Tensor& values) {
    const auto places = tensor::from_values<std::int64_t>({0, 1, 0, 2, 2, 1}, {2, 3}, values.device());
    return sparse_coo(places, values, {2, 3, 2});
  };
  return [=](RandomTensors& random) {
    const Function run = [=](const TensorList& in) { return one(function(first(in[0]), second(in[1]))); };
    return Case{run, {random.tensor({4, 2}), random.tensor({3, 2})}};
  };
}

Cases sparse_cases() {
  return {
      {"sparse add", sparse([](auto& a, auto& b) { return to_dense(add(a, b, 2)); })},
      {"sparse add to a dense one", sparse([](auto& a, auto& b) { return to_dense(a) + b; })},
      {"sparse sub", sparse([](auto& a, auto& b) { return to_dense(a - b); })},
      {"sparse mul", sparse([](auto& a, auto& b) { return to_dense(a * b) + to_dense(a) + to_dense(b); })},
      {"sparse mul by a number", sparse([](auto& a, auto& b) { return to_dense(a * 3 + b / 2); })},
      {"sparse coalesce", sparse([](auto& a, auto& b) { return to_dense(coalesce(a) + b); })},
      {"sparse sum", sparse([](auto& a, auto& b) { return sum(a) * sum(b); })},
      {"sparse stack", sparse([](auto& a, auto& b) { return to_dense(stack({a, b})); })},
      {"sparse stack in the middle", sparse([](auto& a, auto& b) { return to_dense(stack({a, b, a}, 1)) * 2; })},
      {"sum of a sparse stack", sparse([](auto& a, auto& b) { return sum(stack({a, b}) * 2); })},
      {"sparse add_", sparse([](auto& a, auto& b) {
         const Tensor copy = clone(a);
         add_(copy, b);
         mul_(copy, 3);
         return to_dense(copy);
       })},
      {"sparse clone and neg", sparse([](auto& a, auto& b) { return to_dense(clone(a) - 2 * clone(b)); })},
  };
}

void check_all(const Cases& cases, Device device) {
  for (const auto& [name, make_case] : cases) {
    for (int seed = 0; seed < kSeeds; ++seed) {
      INFO(name << ", seed " << seed << ", on " << to_string(device));
      RandomTensors random(base::derive_seed(static_cast<std::uint64_t>(seed), name));
      const Case made = make_case(random);
      test::check_gradients(made.function, made.inputs, device, random);
    }
  }
}

void check_on_all_devices(const Cases& cases) {
  check_all(cases, device::kCpu);
  check_all(cases, test::virtual_gpu());
  CHECK(test::order_reports().empty());
}

}  // namespace

TEST_CASE("gradients of elementwise operators are those of central differences") {
  check_on_all_devices(elementwise_cases());
}
TEST_CASE("gradients of in-place operators are those of central differences") {
  check_on_all_devices(in_place_cases());
}
TEST_CASE("gradients of views, copies and joins are those of central differences") {
  check_on_all_devices(view_cases());
}
TEST_CASE("gradients through views that are changed in place are those of central differences") {
  check_on_all_devices(changed_view_cases());
}
TEST_CASE("gradients of sums and losses are those of central differences") {
  check_on_all_devices(reduction_cases());
}
TEST_CASE("gradients of products are those of central differences") { check_on_all_devices(product_cases()); }

TEST_CASE("gradients of operators on images are those of central differences") {
  check_on_all_devices(image_cases());
}
TEST_CASE("gradients of bags of embeddings are those of central differences") {
  check_on_all_devices(embedding_cases());
}
TEST_CASE("gradients of operators on sparse tensors are those of central differences") {
  check_on_all_devices(sparse_cases());
}

}  // namespace distrun

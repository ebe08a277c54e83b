#include <catch2/catch.hpp>

#include "gradient_cases.hpp"

namespace distrun::test {

Cases embedding_cases() {
  const auto bags = [](const Tensor& like, BagMode mode, const Tensor& factors) {
    const Tensor indices = tensor::from_values<std::int64_t>({1, 2, 4, 5, 4, 3, 2, 0}, {8}, like.device());
    return Bags{indices, tensor::from_values<std::int64_t>({0, 4, 4}, {3}, like.device()), mode, factors};
  };
  const auto sizes = [](auto n, auto, auto, auto) { return Sizes{{6, n + 1}, {8}}; };
  MakeCase table_alone = sized(
      [](auto n, auto, auto, auto) {
        return Sizes{{6, n + 1}};
      },
      [bags](auto& in) {
        return TensorList{embedding_bag(in[0], bags(in[0], BagMode::Mean, {})),
                          embedding_bag(in[0], bags(in[0], BagMode::Sum, {}))};
      });
  MakeCase sparse = sized(
      [](auto n, auto, auto, auto) {
        return Sizes{{6, n + 1}};
      },
      [bags](auto& in) { return one(embedding_bag(in[0], bags(in[0], BagMode::Mean, {}), true)); });
  return {
      {"embedding_bag", table_alone},
      {"embedding_bag with a sparse gradient", sparse},
      {"embedding_bag with factors",
       sized(sizes, [bags](auto& in) { return one(embedding_bag(in[0], bags(in[0], BagMode::Sum, in[1]))); })},
  };
}

namespace {

// A case of sparse tensors with the values as inputs. Two have the same sizes, and share some indices.
MakeCase sparse(std::function<Tensor(const Tensor&, const Tensor&)> function) {
  const auto first = [](const Tensor& values) {  // one index twice
    const auto places = tensor::from_values<std::int64_t>({0, 1, 1, 1, 2, 0, 2, 2}, {2, 4}, values.device());
    return sparse_coo(places, values, {2, 3, 2});
  };
  const auto second = [](const Tensor& values) {
    const auto places = tensor::from_values<std::int64_t>({0, 1, 0, 2, 2, 1}, {2, 3}, values.device());
    return sparse_coo(places, values, {2, 3, 2});
  };
  return [function, first, second](RandomTensors& random) {
    const Function run = [function, first, second](const TensorList& in) {
      return one(function(first(in[0]), second(in[1])));
    };
    return Case{run, {random.tensor({4, 2}), random.tensor({3, 2})}};
  };
}

}  // namespace

Cases sparse_cases() {
  return {
      {"sparse add", sparse([](auto& a, auto& b) { return to_dense(add(a, b, 2)); })},
      {"sparse add to a dense one", sparse([](auto& a, auto& b) { return to_dense(a) + b; })},
      {"sparse sub", sparse([](auto& a, auto& b) { return to_dense(a - b); })},
      {"sparse mul", sparse([](auto& a, auto& b) { return to_dense(a * b) + to_dense(a) + to_dense(b); })},
      {"sparse mul by a number", sparse([](auto& a, auto& b) { return to_dense(a * 3 + b / 2); })},
      {"sparse coalesce", sparse([](auto& a, auto& b) { return to_dense(coalesce(a) + b); })},
      {"sparse sum", sparse([](auto& a, auto& b) { return sum(a) * sum(b); })},
      {"sparse stack", sparse([](auto& a, auto& b) {
         return to_dense(stack({a, b}));
       })},
      {"sparse stack in the middle", sparse([](auto& a, auto& b) {
         return to_dense(stack({a, b, a}, 1)) * 2;
       })},
      {"sum of a sparse stack", sparse([](auto& a, auto& b) {
         return sum(stack({a, b}) * 2);
       })},
      {"sparse add_", sparse([](auto& a, auto& b) {
         const Tensor copy = clone(a);
         add_(copy, b);
         mul_(copy, 3);
         return to_dense(copy);
       })},
      {"sparse select",
       sparse([](auto& a, auto& b) { return to_dense(select(a, 1, 2)) + to_dense(select(b, 1, -1)) * 2; })},
      {"sparse select beside a dense one", sparse([](auto& a, auto& b) {
         const Tensor row = select(to_dense(a), 0, 0) + select(a, 0, 1);
         return row * to_dense(select(select(b, 0, 1), 0, 2));
       })},
      {"sparse select in place", sparse([](auto& a, auto& b) {
         const Tensor row = select(a, 0, 1);
         mul_(row, 3);
         add_(row, select(b, 0, 0));
         return to_dense(row) + select(to_dense(a - b), 0, 0);
       })},
      {"sparse changed after it was read", sparse([](auto& a, auto& b) {
         const Tensor first = clone(a), before = to_dense(first), total = sum(first);
         mul_(first, 3);
         sub_(first, b);
         return before * 2 + to_dense(first) + total;
       })},
      {"sparse clone and neg", sparse([](auto& a, auto& b) { return to_dense(clone(a) - 2 * clone(b)); })},
  };
}

TEST_CASE("gradients of bags of embeddings are those of central differences") {
  check_on_all_devices(embedding_cases());
}
TEST_CASE("gradients of operators on sparse tensors are those of central differences") {
  check_on_all_devices(sparse_cases());
}

}  // namespace distrun::test

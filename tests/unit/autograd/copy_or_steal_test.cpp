// When a gradient is kept as it is and when it is copied: in leaves, and in the map of a pass that does not touch them.
#include <catch2/catch.hpp>

#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/function.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/graph_task.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>

#include "unit/autograd/leaf.hpp"

namespace distrun {
namespace {

using testing::leaf;

const std::byte* recorded = nullptr;
Tensor kept_indices, kept_values;

const std::byte* address_of(const Tensor& tensor) { return (tensor.is_sparse() ? values(tensor) : tensor).data(); }

struct Sum {
  static Tensor forward(FunctionContext&, const Tensor& a, const Tensor& b) { return a + b; }
  static TensorList backward(FunctionContext&, TensorList gradients) {
    recorded = address_of(gradients[0]);
    return {gradients[0], gradients[0]};
  }
};

struct Identity {
  static Tensor forward(FunctionContext&, const Tensor& a) { return a; }
  static TensorList backward(FunctionContext&, TensorList gradients) {
    recorded = address_of(gradients[0]);
    return {std::move(gradients[0])};
  }
};

struct KeepsParts {
  static Tensor forward(FunctionContext&, const Tensor& a) { return a; }
  static TensorList backward(FunctionContext&, TensorList gradients) {
    recorded = address_of(gradients[0]);
    kept_indices = indices(gradients[0]);
    kept_values = values(gradients[0]);
    return {std::move(gradients[0])};
  }
};

// A gradient that is not contiguous.
struct Expanding {
  static Tensor forward(FunctionContext&, const Tensor&) { return ones({1}); }
  static TensorList backward(FunctionContext&, TensorList) { return {expand(ones({1}), {5, 6})}; }
};

// A sparse gradient of rows, as for tables.
struct TakesRows {
  static Tensor forward(FunctionContext&, const Tensor& table) { return sum(table); }
  static TensorList backward(FunctionContext&, TensorList) {
    return {sparse_coo(tensor::from_values<std::int64_t>({0, 2, 2}, {1, 3}), ones({3, 3}), {10, 3})};
  }
};

// The same for two tables, with parts that are not contiguous.
struct SparseForBoth {
  static Tensor forward(FunctionContext&, const Tensor& a, const Tensor& b) { return sum(a + b); }
  static TensorList backward(FunctionContext&, TensorList) {
    const Tensor rows = expand(tensor::from_values<std::int64_t>({1}, {1, 1}), {1, 8});
    const Tensor entries = expand(ones({1, 3}), {8, 3});
    const Tensor gradient = tensor::sparse_coo_unchecked(rows, entries, {10, 3}, false);
    recorded = address_of(gradient);
    return {gradient, gradient};
  }
};

Tensor element(const Tensor& tensor) { return select(select(tensor, 0, 1), 0, 0); }

// Runs a pass like those of distributed autograd: gradients of leaves go into a map.
void run_into(autograd::GradientMap& map, const Tensor& root, bool retain_graph = false) {
  const auto task = tensor::make_ref<autograd::GraphTask>(autograd::PassOptions{retain_graph, &map});
  task->add_root(autograd::gradient_edge(root), ones_like(root));
  task->run();
  map.end_pass();
}

}  // namespace

TEST_CASE("a gradient that is not contiguous is copied") {
  const Tensor a = leaf({5, 6}), b = leaf({5, 6});
  autograd::GradientMap map;
  run_into(map, apply<Expanding>(apply<Sum>(a, b)));
  CHECK(address_of(map.find(a)) != recorded);
  CHECK(address_of(map.find(b)) != recorded);
  CHECK(map.find(a).is_contiguous());
}

TEST_CASE("a gradient with no other owner is kept without a copy") {
  const Tensor a = leaf({5, 6});
  autograd::GradientMap map;
  run_into(map, element(apply<Identity>(a)));
  CHECK(address_of(map.find(a)) == recorded);
  CHECK_FALSE(grad(a).defined());
  backward(element(apply<Identity>(a)));
  CHECK(address_of(grad(a)) == recorded);
}

TEST_CASE("a gradient of two leaves is copied for both in a map, and for the first one in the leaves") {
  const Tensor a = leaf({5, 6}), b = leaf({5, 6});
  autograd::GradientMap map;
  run_into(map, element(apply<Sum>(a, b)));
  CHECK(address_of(map.find(a)) != recorded);
  CHECK(address_of(map.find(b)) != recorded);
  CHECK(address_of(map.find(a)) != address_of(map.find(b)));
  backward(element(apply<Sum>(a, b)));
  CHECK(address_of(grad(a)) != address_of(grad(b)));
  CHECK((address_of(grad(a)) == recorded || address_of(grad(b)) == recorded));
}

TEST_CASE("a view of another leaf's gradient is not kept") {
  const Tensor a = leaf({4}), b = leaf({2, 2});
  backward(sum(a + view(b, {4})), {});
  const Tensor before = clone(grad(a));
  tensor::add_(grad(b), 1);
  CHECK(equal(grad(a), before));
}

TEST_CASE("a sparse gradient is kept although its parts are referenced") {
  const Tensor a = leaf({10, 3});
  autograd::GradientMap map;
  run_into(map, apply<TakesRows>(apply<KeepsParts>(a)), true);
  CHECK(kept_indices.defined());
  CHECK(kept_values.defined());
  CHECK(address_of(map.find(a)) == recorded);
  kept_indices = kept_values = Tensor();
}

TEST_CASE("a sparse gradient of two leaves is copied, and further ones are added") {
  const Tensor a = leaf({10, 3}), b = leaf({10, 3});
  const Tensor loss = apply<SparseForBoth>(a, b);
  autograd::GradientMap map;
  run_into(map, loss, true);
  CHECK(address_of(map.find(a)) != recorded);
  CHECK(address_of(map.find(b)) != recorded);
  CHECK(address_of(map.find(a)) != address_of(map.find(b)));
  for (int pass = 0; pass < 10; ++pass) run_into(map, loss, true);
  CHECK(to_dense(map.find(a)).is_contiguous());
  CHECK(equal(select(to_dense(map.find(a)), 0, 1), full({3}, 88.0)));
}

TEST_CASE("the map keeps what each leaf got, in order, and adds up passes") {
  const Tensor a = leaf({2}), b = leaf({2});
  autograd::GradientMap map;
  for (int pass = 0; pass < 3; ++pass) run_into(map, sum(a * 2 + b));
  CHECK(map.size() == 2);
  CHECK(equal(map.find(a), full({2}, 6.0)));
  CHECK(equal(map.find(b), full({2}, 3.0)));
  CHECK_FALSE(map.find(ones({2})).defined());
  CHECK_FALSE(grad(a).defined());
}

TEST_CASE("the hook of a leaf runs once in a pass into a map") {
  const Tensor t1 = leaf({3, 3}), t2 = leaf({3, 3});
  register_hook(t1, [](const Tensor& gradient) { return gradient * 2; });
  autograd::GradientMap map;
  run_into(map, sum(matmul(t1, t2)));
  CHECK(map.size() == 2);
  CHECK(equal(map.find(t1), full({3, 3}, 6.0)));
  CHECK(equal(map.find(t2), full({3, 3}, 3.0)));
}

}  // namespace distrun

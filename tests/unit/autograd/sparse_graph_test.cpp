// Sparse tensors kept in a graph, and the later changes that are allowed.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>

#include "unit/autograd/leaf.hpp"

namespace distrun {
namespace {

using testing::leaf;
using Floats = std::vector<float>;

Tensor places() { return tensor::from_values<std::int64_t>({0, 1, 1, 1, 0, 2}, {2, 3}); }
// Returns a [2, 3] matrix with three entries.
Tensor matrix_of(const Tensor& values) { return sparse_coo(places(), values, {2, 3}); }

Floats floats(const Tensor& tensor) { return tensor::to_vector<float>(tensor); }

}  // namespace

TEST_CASE("a row that was selected from a sparse tensor is changed in place without changing that tensor") {
  const Tensor w = leaf({3});
  const Tensor s = matrix_of(w);
  const Tensor row = select(s, 0, -1);
  CHECK(row.is_sparse());
  CHECK(grad_fn(row)->name() == "SelectBackward0");
  mul_(row, 3);
  CHECK(grad_fn(row)->name() == "MulBackward0");
  add_(row, select(s, 0, 1), 2);
  CHECK(floats(to_dense(row)) == Floats{5, 0, 5});
  CHECK(floats(to_dense(s)) == Floats{0, 1, 0, 1, 0, 1});
  backward(sum(row));
  CHECK(floats(grad(w)) == Floats{0, 5, 5});
  const Tensor plain = select(matrix_of(ones({3})), 0, 1);
  add_(plain, plain);
  CHECK_FALSE(requires_grad(plain));
  CHECK(floats(to_dense(plain)) == Floats{2, 0, 2});
}

TEST_CASE("a sparse tensor may be changed after to_dense, sum and select, which need only its indices") {
  const Tensor w = leaf({3});
  const Tensor s = matrix_of(w);
  const Tensor dense = to_dense(s), total = sum(s), row = select(s, 0, 1);
  mul_(s, 3);
  add_(s, s);
  mul_(dense, 2);
  backward(sum(dense) + total + sum(row) + sum(s));
  CHECK(floats(grad(w)) == Floats{9, 10, 10});
}

TEST_CASE("the bytes of the values may change where a formula does not need them") {
  const Tensor w = leaf({3});
  const Tensor total = sum(to_dense(matrix_of(w)) * 2);
  {
    const NoGradGuard guard;
    mul_(w, 5);
  }
  backward(total);
  CHECK(floats(grad(w)) == Floats{2, 2, 2});
}

TEST_CASE("a product notices that a sparse factor was changed, also through its parts") {
  const Tensor w = leaf({3});
  for (const bool by_parts : {false, true}) {
    const Tensor s = matrix_of(w) * 2;
    const Tensor product = sum(s * s);
    mul_(by_parts ? values(s) : s, 3);
    CHECK_THROWS_WITH(backward(product), Catch::Contains("modified by an inplace operation: sparse float32 [2, 3]") &&
                                             Catch::Contains("MulBackward0 expected version"));
  }
}

TEST_CASE("changed indices are noticed where indices are needed") {
  const Tensor w = leaf({3});
  const auto check = [&w](auto&& read) {
    const Tensor s = matrix_of(w);
    const Tensor result = read(s);
    fill_(indices(s), 0);
    CHECK_THROWS_WITH(backward(result), Catch::Contains("modified by an inplace operation: int64 [2, 3]"));
  };
  check([](const Tensor& s) { return sum(s); });
  check([](const Tensor& s) { return sum(to_dense(s)); });
  CHECK_FALSE(grad(w).defined());
}

TEST_CASE("values and indices are separate tensors over the bytes of the parts, in no graph") {
  const Tensor w = leaf({3});
  const Tensor s = matrix_of(w);
  CHECK_FALSE(values(s).is_same(w));
  CHECK_FALSE(values(s).is_same(values(s)));
  CHECK_FALSE(requires_grad(values(s)));
  CHECK(is_leaf(values(s)));
  CHECK(values(s).data() == w.data());
  CHECK(equal(indices(s), places()));
  set_requires_grad(values(s));
  CHECK_FALSE(requires_grad(values(s)));
  const std::uint32_t before = s.version();
  mul_(values(s), 3);
  CHECK(s.version() == before + 1);
  CHECK(w.version() == before + 1);
  CHECK(floats(to_dense(s)) == Floats{0, 3, 0, 3, 0, 3});
  const Tensor old = values(s);
  mul_(s, 2);
  CHECK(floats(old) == Floats{3, 3, 3});
  CHECK(floats(values(s)) == Floats{6, 6, 6});
  CHECK_THROWS_AS(values(w), Error);
  CHECK_THROWS_AS(indices(Tensor()), Error);
}

TEST_CASE("gradients of huge sparse tensors take no more than their entries") {
  constexpr std::int64_t kSize = INT64_MAX;
  const Tensor w = leaf({3}), v = leaf({2});
  const Tensor a = sparse_coo(tensor::from_values<std::int64_t>({kSize - 1, 4, 4}, {1, 3}), w, {kSize});
  const Tensor b = sparse_coo(tensor::from_values<std::int64_t>({4, 0}, {1, 2}), v * 2, {kSize});
  backward(sum(a * b) + sum(select(a, 0, -1)) + sum(coalesce(add(a, b, 3))));
  CHECK(floats(grad(w)) == Floats{2, 3, 3});
  CHECK(floats(grad(v)) == Floats{10, 6});
}

TEST_CASE("undefined tensors are refused by the recorded operators of sparse ones") {
  const Tensor none;
  CHECK_THROWS_AS(sparse_coo(none, ones({2}), {3}), Error);
  CHECK_THROWS_AS(sparse_coo(places(), none, {2, 3}), Error);
  CHECK_THROWS_AS(coalesce(none), Error);
  CHECK_THROWS_AS(to_dense(none), Error);
  CHECK_THROWS_AS(values(none), Error);
  CHECK_THROWS_AS(select(none, 0, 0), Error);
}

}  // namespace distrun

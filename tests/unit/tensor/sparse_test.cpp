#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/closeness.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {
namespace {

using Catch::Matchers::Contains;
using Longs = std::vector<std::int64_t>;

Tensor indices(std::initializer_list<std::int64_t> values, const Dims& sizes) { return from_values(values, sizes); }

// Returns [[0, 0, 3], [4, 0, 5]], not coalesced.
Tensor sample() {
  return sparse_coo(indices({0, 1, 1, 1, 2, 0, 2, 2}, {2, 4}), from_values<std::int64_t>({3, 4, 2, 3}), {2, 3});
}

Longs dense_values(const Tensor& tensor) { return to_vector<std::int64_t>(to(to_dense(tensor), DType::I64)); }

}  // namespace

TEST_CASE("a sparse tensor is the sum of its entries") {
  const Tensor s = sample();
  CHECK(s.is_sparse());
  CHECK(s.sizes() == Dims{2, 3});
  CHECK(s.dtype() == DType::I64);
  CHECK(nnz(s) == 4);
  CHECK(sparse_dim(s) == 2);
  CHECK_FALSE(is_coalesced(s));
  CHECK(dense_values(s) == Longs{0, 0, 3, 4, 0, 5});
}

TEST_CASE("coalescing sorts the indices and adds equal ones up") {
  const Tensor c = coalesce(sample());
  CHECK(is_coalesced(c));
  CHECK(to_vector<std::int64_t>(sparse(c).indices) == Longs{0, 1, 1, 2, 0, 2});
  CHECK(to_vector<std::int64_t>(sparse(c).values) == Longs{3, 4, 5});
  CHECK(coalesce(c).is_same(c));
  const Tensor blocks = sparse_coo(indices({1, 0, 1}, {1, 3}), from_values<float>({1, 2, 3, 4, 5, 6}, {3, 2}), {3, 2});
  CHECK(to_vector<float>(sparse(coalesce(blocks)).values) == std::vector<float>{3, 4, 6, 8});
  CHECK(to_vector<float>(to_dense(blocks)) == std::vector<float>{3, 4, 6, 8, 0, 0});
}

TEST_CASE("coalescing gives the same for few indices and for many") {
  const std::vector<std::int64_t> at{5, 3, 5, 0, 3, 5};
  const Tensor values = from_values<float>({1, 2, 3, 4, 5, 6});
  for (const std::int64_t size : {6, 1'000'000}) {
    const Tensor s = coalesce(sparse_coo(from_values(std::span<const std::int64_t>(at), {1, 6}), values, {size}));
    CHECK(to_vector<std::int64_t>(sparse(s).indices) == std::vector<std::int64_t>{0, 3, 5});
    CHECK(to_vector<float>(sparse(s).values) == std::vector<float>{4, 7, 10});
  }
}

TEST_CASE("sums of sparse tensors are sparse, and those with dense ones dense") {
  const Tensor s = sample();
  const Tensor doubled = add(s, s);
  CHECK(doubled.is_sparse());
  CHECK_FALSE(is_coalesced(doubled));
  CHECK(dense_values(doubled) == Longs{0, 0, 6, 8, 0, 10});
  CHECK(is_coalesced(add(coalesce(s), coalesce(s))));
  CHECK(nnz(add(coalesce(s), coalesce(s))) == 3);
  CHECK(dense_values(sub(s, s, 3)) == Longs{0, 0, -6, -8, 0, -10});
  const Tensor sum = add(ones({2, 3}), s, 2);
  CHECK_FALSE(sum.is_sparse());
  CHECK(to_vector<float>(sum) == std::vector<float>{1, 1, 7, 9, 1, 11});
  CHECK(equal(add(s, ones({2, 3}, {DType::I64})), add(ones({2, 3}, {DType::I64}), s)));
  CHECK(add(to(s, DType::F32), to(s, DType::F64)).dtype() == DType::F64);
  CHECK_THROWS_WITH(add(s, zeros({3, 2})), Contains("add: sizes must be the same, since one is sparse"));
  CHECK_THROWS_WITH(add(s, sparse_coo(indices({0}, {1, 1}), ones({1, 3}), {2, 3})), Contains("2 and 1"));
}

TEST_CASE("in-place operators change the tensor and those that share its entries") {
  const Tensor s = sample();
  const Tensor shared = alias(s);
  add_(s, s);
  CHECK(dense_values(shared) == Longs{0, 0, 6, 8, 0, 10});
  mul_(s, 3);
  CHECK(dense_values(s) == Longs{0, 0, 18, 24, 0, 30});
  CHECK(s.version() == 2);
  CHECK(shared.version() == 2);
  CHECK_THROWS_WITH(div_(s, 2),
                    Contains("div_: result type float32 cannot be cast to the output's (sparse int64 [2, 3])"));
  CHECK_THROWS_WITH(add_(s, ones({2, 3})), Contains("a dense tensor cannot be added to a sparse one in place"));
  const Tensor dense = zeros({2, 3});
  add_(dense, s, 0.5);
  CHECK(to_vector<float>(dense) == std::vector<float>{0, 0, 9, 12, 0, 15});
  add_(t(dense), t(ones({2, 3})));
  CHECK(dense.version() == 2);
}

TEST_CASE("products and true division") {
  const Tensor s = sample();
  CHECK(dense_values(mul(s, 2)) == Longs{0, 0, 6, 8, 0, 10});
  CHECK(mul(s, 0.5).dtype() == DType::F32);
  const Tensor halves = div(s, 2);
  CHECK(halves.dtype() == DType::F32);
  CHECK(to_vector<float>(to_dense(halves)) == std::vector<float>{0, 0, 1.5, 2, 0, 2.5});
  CHECK(dense_values(div(s, ones({}))) == dense_values(s));
  CHECK_THROWS_WITH(div(s, ones({2, 3})), Contains("divided by a number"));
  const Tensor other = sparse_coo(indices({1, 0, 2, 1}, {2, 2}), from_values<std::int64_t>({10, 20}), {2, 3});
  const Tensor product = mul(s, other);
  CHECK(is_coalesced(product));
  CHECK(dense_values(product) == Longs{0, 0, 0, 0, 0, 50});
  CHECK(nnz(product) == 1);
  CHECK(dense_values(mul(s, view(arange(6), {2, 3}))) == Longs{0, 0, 6, 12, 0, 25});
  CHECK(dense_values(mul(view(arange(6), {2, 3}), s)) == Longs{0, 0, 6, 12, 0, 25});
  CHECK(dense_values(neg(s)) == Longs{0, 0, -3, -4, 0, -5});
  CHECK(sum(s).item_as<int>() == 12);
}

TEST_CASE("sparse tensors can be stacked, and taken apart again") {
  const Tensor s = sample(), c = coalesce(s);
  const Tensor all = stack({s, mul(s, 2)});
  CHECK(all.is_sparse());
  CHECK(all.sizes() == Dims{2, 2, 3});
  CHECK(dense_values(all) == Longs{0, 0, 3, 4, 0, 5, 0, 0, 6, 8, 0, 10});
  CHECK(dense_values(select(all, 0, 1)) == Longs{0, 0, 6, 8, 0, 10});
  CHECK(dense_values(select(all, 2, -1)) == Longs{3, 5, 6, 10});
  CHECK(is_coalesced(stack({c, c})));
  CHECK(equal(to_dense(stack({s, s}, 1)), stack({to_dense(s), to_dense(s)}, 1)));
  CHECK(equal(to_dense(stack({s, s}, 2)), stack({to_dense(s), to_dense(s)}, 2)));
  CHECK(select(select(c, 0, 1), 0, 2).sizes() == Dims{});
  CHECK(to_dense(select(select(c, 0, 1), 0, 2)).item_as<int>() == 5);
  CHECK_THROWS_WITH(select(s, 0, 2), Contains("index 2 is out of bounds for dimension 0 with size 2"));
  CHECK_THROWS_WITH(stack({s, ones({2, 3})}), Contains("all tensors must be sparse or none"));
}

TEST_CASE("copies stay coalesced, and detached ones share") {
  const Tensor s = coalesce(sample());
  CHECK(is_coalesced(to(s, DType::F32)));
  CHECK(to(s, DType::F32).dtype() == DType::F32);
  CHECK(is_coalesced(clone(s)));
  CHECK_FALSE(clone(s).is_same(s));
  CHECK(&sparse(alias(s)) == &sparse(s));
  CHECK(nnz(zeros_like(s)) == 0);
  CHECK(dense_values(zeros_like(s)) == Longs(6, 0));
  CHECK(dense_values(sparse_mask(ones({2, 3}), s)) == Longs{0, 0, 1, 1, 0, 1});
}

TEST_CASE("entries that do not fit are refused") {
  const Tensor values = ones({2});
  CHECK(sparse_coo(indices({0, 4}, {1, 2}), values).sizes() == Dims{5});
  CHECK_THROWS_WITH(sparse_coo(indices({0, 4}, {1, 2}), values, {4}), Contains("index 4 is out of range for 4 rows"));
  CHECK_THROWS_WITH(sparse_coo(indices({0, -1}, {1, 2}), values, {4}), Contains("index -1 is out of range"));
  CHECK_THROWS_WITH(sparse_coo(indices({0}, {1, 1}), values, {4}), Contains("sparse_coo: int64 indices"));
  CHECK_THROWS_WITH(sparse_coo(ones({1, 2}), values, {4}), Contains("(float32 [1, 2] and float32 [2])"));
  CHECK_THROWS_WITH(sparse_coo(indices({0, 1}, {1, 2}), values, {4, 4}), Contains("do not fit sizes [4, 4]"));
  CHECK_THROWS_WITH(relu(sample()), Contains("relu: sparse tensors are not supported"));
  CHECK_THROWS_WITH(matmul(sample(), ones({3, 3})), Contains("matmul: sparse tensors are not supported"));
  CHECK_THROWS_WITH(sample().data(), Contains("a strided tensor is required, but this one is sparse int64 [2, 3]"));
  CHECK_THROWS_WITH(sparse(ones({1})), Contains("a sparse tensor is required"));
}

TEST_CASE("sparse tensors without entries work with every operator") {
  const Tensor none = zeros_like(sample());
  CHECK(nnz(add(none, none)) == 0);
  CHECK(nnz(mul(none, sample())) == 0);
  CHECK(dense_values(add(none, sample())) == Longs{0, 0, 3, 4, 0, 5});
  CHECK(sum(none).item_as<int>() == 0);
  CHECK(nnz(stack({none, none})) == 0);
  CHECK(nnz(select(none, 0, 0)) == 0);
  CHECK(equal(none, none));
  CHECK(equal(sample(), coalesce(sample())));
  CHECK_FALSE(equal(none, sample()));
}

TEST_CASE("the version of a sparse tensor counts changes of the bytes of its parts") {
  const Tensor values = from_values<float>({1, 2});
  const Tensor s = sparse_coo(indices({0, 2}, {1, 2}), values, {3});
  const Tensor shared = alias(s);
  CHECK(s.version() == 0);
  mul_(values, 3);
  CHECK(s.version() == 1);
  CHECK(dense_values(shared) == Longs{3, 0, 6});
  mul_(s, 2);  // other values replace them
  CHECK(s.version() == 2);
  CHECK(shared.version() == 2);
  CHECK(to_vector<float>(values) == std::vector<float>{3, 6});
  mul_(values, 3);
  CHECK(s.version() == 2);
  CHECK(dense_values(shared) == Longs{6, 0, 12});
}

TEST_CASE("sparse tensors may be as large as the limit, and no larger") {
  constexpr std::int64_t kMost = INT64_MAX;
  const Tensor values = from_values<float>({1, 2, 4});
  const Tensor long_one = sparse_coo(indices({kMost - 1, 0, kMost - 1}, {1, 3}), values, {kMost});
  CHECK(to_vector<std::int64_t>(sparse(coalesce(long_one)).indices) == Longs{0, kMost - 1});
  CHECK(to_vector<float>(sparse(coalesce(long_one)).values) == std::vector<float>{2, 5});
  CHECK(nnz(mul(long_one, long_one)) == 2);
  CHECK(nnz(add(long_one, coalesce(long_one))) == 5);
  CHECK(to_vector<float>(sparse(select(long_one, 0, -1)).values) == std::vector<float>{1, 4});
  CHECK(sparse_coo(indices({kMost - 1, 0, 0}, {1, 3}), values).sizes() == Dims{kMost});
  const Tensor square = sparse_coo(indices({1LL << 30, 7, 1LL << 30, (1LL << 32) - 1, 0, (1LL << 32) - 1}, {2, 3}),
                                   values, {(1LL << 30) + 1, 1LL << 32});
  CHECK(to_vector<std::int64_t>(sparse(coalesce(square)).indices) == Longs{7, 1LL << 30, 0, (1LL << 32) - 1});
  CHECK(to_vector<float>(sparse(coalesce(select(square, 0, -1))).values) == std::vector<float>{5});
  CHECK_THROWS_WITH(sparse_coo(indices({kMost, 0, 0}, {1, 3}), values), Contains("no size holds index"));
  CHECK_THROWS_WITH(sparse_coo(indices({0, 0, 0}, {1, 3}), values, {-1}), Contains("out of range for -1 rows"));
  CHECK_THROWS_WITH(sparse_coo(indices({0, 0, 0, 0, 0, 0}, {2, 3}), values, {1LL << 32, 1LL << 32}),
                    Contains("no tensor can have sizes"));
  CHECK_THROWS_WITH(sparse_coo(empty({2, 0}, {DType::I64}), empty({0}), {-1, 3}), Contains("no tensor can have sizes"));
  CHECK_THROWS_WITH(stack({long_one, long_one}), Contains("no tensor can have sizes"));
  CHECK_THROWS_WITH(to_dense(long_one), Contains("too many bytes"));
}

TEST_CASE("indices that were changed to out-of-range ones are noticed") {
  const Tensor at = indices({0, 2}, {1, 2});
  const Tensor s = sparse_coo(at, ones({2}), {3});
  for (const std::int64_t wrong : {INT64_MAX, INT64_MIN, std::int64_t{3}}) {
    fill_(at, wrong);
    CHECK_THROWS_WITH(to_dense(s), Contains("its indices were changed") && Contains("out of range for size 3"));
    CHECK_THROWS_WITH(coalesce(add(s, s)), Contains("its indices were changed"));
    CHECK_THROWS_WITH(mul(s, ones({3})), Contains("its indices were changed"));
    CHECK(nnz(select(s, 0, 0)) == 0);
  }
}

TEST_CASE("undefined tensors are refused by all operators of sparse ones") {
  const Tensor none, s = sample(), values = ones({2});
  CHECK_THROWS_AS(sparse_coo(none, values, {3}), Error);
  CHECK_THROWS_AS(sparse_coo(indices({0, 1}, {1, 2}), none), Error);
  CHECK_THROWS_AS(coalesce(none), Error);
  CHECK_THROWS_AS(to_dense(none), Error);
  CHECK_THROWS_AS(sparse_mask(none, s), Error);
  CHECK_THROWS_AS(sparse_mask(ones({2, 3}), none), Error);
  CHECK_THROWS_AS(select(none, 0, 0), Error);
  CHECK_THROWS_AS(select_sparse(none, 0, 0), Error);
  CHECK_THROWS_AS(nnz(none), Error);
  CHECK_THROWS_AS(sparse_dim(none), Error);
  CHECK_THROWS_AS(is_coalesced(none), Error);
  CHECK_THROWS_AS(add(s, none), Error);
  CHECK_THROWS_AS(sub(none, s), Error);
  CHECK_THROWS_AS(mul(s, none), Error);
  CHECK_THROWS_AS(div(s, none), Error);
  CHECK_THROWS_AS(add_(s, none), Error);
  CHECK_THROWS_AS(mul_(none, s), Error);
  CHECK_THROWS_AS(div_(s, none), Error);
  CHECK_THROWS_AS(stack({s, none}), Error);
  CHECK_THROWS_AS(clone(none), Error);
  CHECK_THROWS_AS(alias(none), Error);
}

}  // namespace distrun::tensor

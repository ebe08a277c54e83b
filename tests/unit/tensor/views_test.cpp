#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {
namespace {

using Catch::Matchers::Contains;

Tensor numbered(const Dims& sizes) { return view(arange(device::count_of(sizes)), sizes); }

}  // namespace

TEST_CASE("views share bytes and version") {
  const Tensor base = numbered({2, 3});
  const Tensor column = select(base, 1, 0);
  add_(column, 10);
  CHECK(base.version() == 1);
  CHECK(column.version() == 1);
  CHECK(to_vector<std::int64_t>(base) == std::vector<std::int64_t>{10, 1, 2, 13, 4, 5});
  CHECK(alias(base).version() == 1);
  CHECK_FALSE(alias(base).is_same(base));
  CHECK(clone(base).version() == 0);
}

TEST_CASE("a view outlives the tensor that it was made of") {
  Tensor row;
  {
    const Tensor small = numbered({2, 3});
    row = select(small, 0, 1);
  }
  CHECK(to_vector<std::int64_t>(row) == std::vector<std::int64_t>{3, 4, 5});
  Tensor large_row;
  {
    const Tensor large = numbered({100, 100});
    large_row = narrow(select(large, 0, 99), 0, 98, 2);
  }
  CHECK(to_vector<std::int64_t>(large_row) == std::vector<std::int64_t>{9998, 9999});
}

TEST_CASE("view, reshape and flatten keep the order of the elements") {
  const Tensor a = numbered({2, 3, 4});
  CHECK(view(a, {4, 6}).sizes() == Dims{4, 6});
  CHECK(view(a, {-1, 6}).sizes() == Dims{4, 6});
  CHECK(flatten(a).sizes() == Dims{24});
  CHECK(flatten(a, 1).sizes() == Dims{2, 12});
  CHECK(flatten(numbered({})).sizes() == Dims{1});
  CHECK_THROWS_WITH(flatten(numbered({}), 1), Contains("flatten: dimension out of range"));
  const Tensor turned = transpose(a, 0, 1);
  CHECK_THROWS_WITH(view(turned, {24}), Contains("view: sizes [24] are not compatible with strides [4, 12, 1]"));
  CHECK(equal(reshape(turned, {24}), view(contiguous(turned), {24})));
  CHECK(view(turned, {3, 2, 2, 2}).strides() == Dims{4, 12, 2, 1});
  CHECK(equal(view(turned, {3, 1, 2, 4}), view(contiguous(turned), {3, 1, 2, 4})));
  CHECK_THROWS_WITH(view(a, {5, 5}), Contains("sizes [5, 5] are invalid for input of 24 elements (int64 [2, 3, 4])"));
  CHECK_THROWS_WITH(view(a, {-1, -1}), Contains("invalid sizes"));
  CHECK_THROWS_WITH(view(numbered({0}), {-1, 0}), Contains("are invalid"));
  CHECK(view(numbered({0, 3}), {3, 0}).sizes() == Dims{3, 0});
}

TEST_CASE("views of every regular part agree with their definition") {
  const Tensor a = numbered({3, 3, 3});
  const Tensor part = narrow(a, 1, 1, 2);
  CHECK_FALSE(part.is_contiguous());
  CHECK(to_vector<std::int64_t>(select(part, 0, 0)) == std::vector<std::int64_t>{3, 4, 5, 6, 7, 8});
  CHECK(select(select(select(a, 0, 1), 0, 0), -1, -1).item_as<int>() == 11);
  CHECK(to_vector<std::int64_t>(select(select(numbered({5, 6}), 0, 1), 0, 0)) == std::vector<std::int64_t>{6});
  CHECK(equal(permute(a, {2, 0, 1}), transpose(transpose(a, 1, 2), 0, 1)));
  CHECK(t(numbered({2, 3})).sizes() == Dims{3, 2});
  CHECK(t(numbered({3})).sizes() == Dims{3});
  CHECK(unsqueeze(a, -1).sizes() == Dims{3, 3, 3, 1});
  CHECK(squeeze(unsqueeze(a, 0), 0).sizes() == a.sizes());
  CHECK(squeeze(a, 0).is_same(a));
  CHECK_THROWS_WITH(narrow(a, 0, 2, 2),
                    "narrow: start (2) and length (2) exceed dimension 0 of size 3 (int64 [3, 3, 3])");
  CHECK_THROWS_WITH(select(a, 0, 3), Contains("index 3 is out of bounds for dimension 0 with size 3"));
  CHECK_THROWS_WITH(permute(a, {0, 0, 1}), Contains("each dimension must be named once"));
  CHECK_THROWS_WITH(t(a), Contains("t: at most 2 dimensions"));
}

TEST_CASE("expand repeats elements without memory") {
  const Tensor a = numbered({3, 1});
  const Tensor wide = expand(a, {2, -1, 4});
  CHECK(wide.sizes() == Dims{2, 3, 4});
  CHECK(wide.strides() == Dims{0, 1, 0});
  CHECK(to_vector<std::int64_t>(select(wide, 0, 1)) == std::vector<std::int64_t>{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2});
  CHECK(expand(a, {3, 0}).numel() == 0);
  CHECK_THROWS_WITH(expand(a, {4, 4}), Contains("cannot be expanded to sizes [4, 4]"));
  CHECK_THROWS_WITH(expand(a, {3}), Contains("expand: "));
  CHECK_THROWS_WITH(expand(a, {-1, 3, 1}), Contains("expand: "));
}

TEST_CASE("split makes pieces of one size, or of the given sizes") {
  const TensorList pieces = split(numbered({10, 2}), 4);
  REQUIRE(pieces.size() == 3);
  CHECK(pieces[2].sizes() == Dims{2, 2});
  CHECK(to_vector<std::int64_t>(pieces[2]) == std::vector<std::int64_t>{16, 17, 18, 19});
  CHECK(split(numbered({10, 2}), 2).size() == 5);
  CHECK(split(numbered({10, 2}), Dims{3, 7}).at(1).sizes() == Dims{7, 2});
  CHECK(split(numbered({10, 2}), 1, 1).size() == 2);
  CHECK_THROWS_WITH(split(numbered({10}), Dims{3, 8}), Contains("pieces of [3, 8] do not make up"));
  CHECK_THROWS_WITH(split(numbered({10}), 0), Contains("pieces of size 0"));
}

TEST_CASE("a view that reaches beyond the bytes is refused, with any numbers") {
  const Tensor a = numbered({10});
  CHECK(as_strided(a, {5}, {2}, 1).sizes() == Dims{5});
  CHECK_THROWS_WITH(as_strided(a, {5}, {2}, 2), Contains("reach beyond a storage of 10 int64 elements"));
  CHECK_THROWS_WITH(as_strided(a, {2}, {1}, -1), Contains("reach beyond"));
  CHECK_THROWS_WITH(as_strided(a, {3}, {INT64_MAX / 2}, 0), Contains("reach beyond"));
  CHECK_THROWS_WITH(as_strided(a, {1, 3}, {1, -1}, 1), Contains("reach beyond"));
  CHECK_THROWS_WITH(as_strided(a, {-1}, {1}, 0), Contains("do not fit"));
  CHECK_THROWS_WITH(as_strided(a, {1}, {1, 1}, 0), Contains("do not fit"));
  CHECK(to_vector<std::int64_t>(as_strided(a, {3}, {-1}, 2)) == std::vector<std::int64_t>{2, 1, 0});
}

TEST_CASE("cat and stack join tensors that fit, and promote") {
  const Tensor a = numbered({2, 2});
  CHECK(to_vector<std::int64_t>(cat({a, a}, 1)) == std::vector<std::int64_t>{0, 1, 0, 1, 2, 3, 2, 3});
  CHECK(cat({a, ones({0, 2})}, 0).dtype() == DType::F32);
  CHECK(stack({a, a, a}).sizes() == Dims{3, 2, 2});
  CHECK(equal(stack({a, a}, 2), permute(stack({a, a}), {1, 2, 0})));
  CHECK(stack({ones({}), ones({})}).sizes() == Dims{2});
  CHECK_THROWS_WITH(cat({a, numbered({3, 3})}),
                    Contains("sizes must match except in dimension 0, and those of tensor 1"));
  CHECK_THROWS_WITH(cat({a, numbered({3})}), Contains("same number of dimensions"));
  CHECK_THROWS_WITH(stack({a, numbered({3})}), Contains("tensor 1 differs from tensor 0 (int64 [2, 2] and int64 [3])"));
  CHECK_THROWS_WITH(stack({}), Contains("at least one tensor is required"));
}

TEST_CASE("cat puts each tensor's elements in place, along any dimension, with mixed dtypes and layouts") {
  for (const std::int64_t dim : {0, 1, 2}) {
    INFO(dim);
    const Tensor block = numbered({6, 50, 40});
    const Tensor whole[] = {narrow(block, dim, 0, 3), narrow(block, dim, 3, 0), narrow(block, dim, 3, 2)};
    const Tensor expected = narrow(block, dim, 0, 5);
    TensorList packed, apart(std::begin(whole), std::end(whole)), mixed;
    for (const Tensor& tensor : whole) packed.push_back(contiguous(tensor));
    for (const Tensor& tensor : packed) mixed.push_back(mixed.empty() ? to(tensor, DType::F32) : tensor);
    CHECK(equal(cat(packed, dim), expected));
    CHECK(equal(cat(apart, dim), expected));
    CHECK(equal(cat(mixed, dim), to(expected, DType::F32)));
  }
}

TEST_CASE("cat() refuses a tensor without elements of another shape") {
  CHECK_THROWS_AS(cat({zeros({0}), zeros({2, 2})}), Error);
}

}  // namespace distrun::tensor

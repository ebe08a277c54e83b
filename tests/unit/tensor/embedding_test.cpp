#include <catch2/catch.hpp>

#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {
namespace {

using Catch::Matchers::Contains;

Tensor longs(std::initializer_list<std::int64_t> values) { return from_values(values); }
Tensor table() { return view(to(arange(20), DType::F32), {10, 2}); }

}  // namespace

TEST_CASE("an empty bag is zero, and one row may appear twice") {
  const Bags bags{longs({1, 1, 3}), longs({0, 3, 3}), BagMode::Sum, {}};
  CHECK(to_vector<float>(embedding_bag(table(), bags)) == std::vector<float>{10, 13, 0, 0, 0, 0});
  const Bags means{longs({1, 3}), longs({0}), BagMode::Mean, {}};
  CHECK(to_vector<float>(embedding_bag(table(), means)) == std::vector<float>{4, 5});
  CHECK(embedding_bag(table(), {longs({}), longs({}), BagMode::Sum, {}}).sizes() == Dims{0, 2});
}

TEST_CASE("the sparse gradient has an entry for each index") {
  const Bags bags{longs({1, 1, 3}), longs({0, 2}), BagMode::Sum, {}};
  const Tensor gradient = view(to(arange(4), DType::F32), {2, 2});
  const Tensor found = embedding_bag_sparse_gradient(gradient, bags, 10);
  CHECK(found.sizes() == Dims{10, 2});
  CHECK(nnz(found) == 3);
  CHECK_FALSE(is_coalesced(found));
  CHECK(to_vector<float>(sparse(found).values) == std::vector<float>{0, 1, 0, 1, 2, 3});
  CHECK(equal(to_dense(found), embedding_bag_gradient(gradient, bags, 10)));
}

TEST_CASE("bags that do not fit are refused") {
  CHECK_THROWS_WITH(embedding_bag(table(), {longs({10}), longs({0}), BagMode::Sum, {}}),
                    "embedding_bag: index 10 is out of range for 10 rows");
  CHECK_THROWS_WITH(embedding_bag(table(), {longs({-1}), longs({0}), BagMode::Sum, {}}), Contains("index -1"));
  CHECK_THROWS_WITH(embedding_bag(table(), {longs({1, 2}), longs({1}), BagMode::Sum, {}}), Contains("offset 0 is 1"));
  CHECK_THROWS_WITH(embedding_bag(table(), {longs({1, 2}), longs({0, 3}), BagMode::Sum, {}}),
                    Contains("offset 1 is 3"));
  CHECK_THROWS_WITH(embedding_bag(table(), {longs({1, 2}), longs({0, 2, 1}), BagMode::Sum, {}}),
                    Contains("offset 2 is 1"));
  CHECK_THROWS_WITH(embedding_bag(table(), {longs({1}), longs({}), BagMode::Sum, {}}),
                    Contains("indices without a bag"));
  CHECK_THROWS_WITH(embedding_bag(table(), {longs({1}), longs({0}), BagMode::Mean, ones({1})}),
                    Contains("for the mode sum only"));
  CHECK_THROWS_WITH(embedding_bag(table(), {longs({1}), longs({0}), BagMode::Sum, ones({2})}),
                    Contains("a weight for each index"));
  CHECK_THROWS_WITH(embedding_bag(table(), {ones({1}), longs({0}), BagMode::Sum, {}}), Contains("must be int64"));
  CHECK_THROWS_WITH(embedding_bag_gradient(ones({2, 2}), {longs({1}), longs({0}), BagMode::Sum, {}}, 10),
                    Contains("a row for each bag"));
}

TEST_CASE("nonzero lists the indices of nonzero elements, row by row") {
  const Tensor x = ones({4, 4});
  fill_(select(select(x, 0, 2), 0, 2), 0);
  const Tensor found = nonzero(x);
  CHECK(found.sizes() == Dims{15, 2});
  CHECK(found.dtype() == DType::I64);
  CHECK(to_vector<std::int64_t>(select(found, 0, 10)) == std::vector<std::int64_t>{2, 3});
  CHECK(nonzero(t(eq(x, 0))).sizes() == Dims{1, 2});
  CHECK(nonzero(zeros({3})).sizes() == Dims{0, 1});
  CHECK(nonzero(ones({})).sizes() == Dims{1, 0});
  CHECK(nonzero(zeros({})).sizes() == Dims{0, 0});
  // Longer rows than one step processes, with an unset last element.
  const Dims sizes{2, 3, 600};
  std::vector<std::uint8_t> set(3600);
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 0; i + 1 < 3600; ++i) {
    if (i * i % 7 < 3) continue;
    set[static_cast<std::size_t>(i)] = 1;
    expected.insert(expected.end(), {i / 1800, i / 600 % 3, i % 600});
  }
  CHECK(to_vector<std::int64_t>(nonzero(from_values<std::uint8_t>(set, sizes))) == expected);
}

}  // namespace distrun::tensor

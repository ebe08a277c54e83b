#include <catch2/catch.hpp>

#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {
namespace {

using Catch::Matchers::Contains;

Tensor whole_numbers(std::initializer_list<std::int64_t> numbers, const Dims& sizes) {
  return from_values<std::int64_t>(numbers, sizes);
}
Tensor counted(const Dims& sizes) { return view(to(arange(device::count_of(sizes)), DType::F32), sizes); }
std::vector<float> floats(const Tensor& tensor) { return to_vector<float>(tensor); }

}  // namespace

TEST_CASE("gather takes from each line the elements at its index") {
  const Tensor a = counted({2, 3});
  CHECK(floats(gather(a, 1, whole_numbers({2, 0, 0, 1}, {2, 2}))) == std::vector<float>{2, 0, 3, 4});
  CHECK(floats(gather(a, 0, whole_numbers({1, 0, 1}, {1, 3}))) == std::vector<float>{3, 1, 5});
  CHECK(floats(gather(a, 0, whole_numbers({1, 0}, {1, 2}))) == std::vector<float>{3, 1});
  CHECK(floats(gather(t(a), 1, whole_numbers({1, 0, 1}, {3, 1}))) == std::vector<float>{3, 1, 5});
  CHECK(gather(a, 1, zeros({2, 0}, {DType::I64})).sizes() == Dims{2, 0});
  CHECK(gather(full({}, 7), 0, whole_numbers({0}, {})).item<float>() == 7);
  CHECK(to_vector<bool>(gather(from_values<bool>({true, false}), 0, whole_numbers({1, 0}, {2}))) ==
        std::vector<bool>{false, true});
  const Tensor block = counted({2, 3, 4}), index = whole_numbers({0, 1, 2, 0, 1, 2, 0, 1}, {2, 2, 2});
  const Tensor taken = gather(block, 1, index);
  for (std::int64_t i = 0; i < 8; ++i) {
    const std::int64_t x = i / 4, y = i / 2 % 2, z = i % 2;
    const float expected = floats(
        block)[static_cast<std::size_t>((x * 3 + to_vector<std::int64_t>(index)[static_cast<std::size_t>(i)]) * 4 + z)];
    INFO(x << " " << y << " " << z);
    CHECK(floats(taken)[static_cast<std::size_t>(i)] == expected);
  }
}

TEST_CASE("scatter_add adds in the order of the index") {
  const Tensor sums = scatter_add(ones({3}), 0, whole_numbers({2, 0, 2, 2}, {4}), from_values<float>({1, 2, 3, 4}));
  CHECK(floats(sums) == std::vector<float>{3, 1, 9});
  const Tensor a = zeros({2, 3});
  scatter_add_(a, 1, whole_numbers({0, 0, 2, 2}, {2, 2}), counted({2, 3}));
  CHECK(floats(a) == std::vector<float>{1, 0, 0, 0, 0, 7});
  CHECK(a.version() == 1);
  const Tensor wide = zeros({3, 2});
  scatter_add_(t(wide), 0, whole_numbers({1, 0, 1}, {1, 3}), from_values<float>({5, 6, 7}, {1, 3}));
  CHECK(floats(wide) == std::vector<float>{0, 5, 6, 0, 0, 7});
  // 1 + 1e8 - 1e8 in float32 is 0 in this order, and 1 in the other.
  CHECK(scatter_add(zeros({1}), 0, zeros({3}, {DType::I64}), from_values<float>({1, 1e8F, -1e8F})).item<float>() == 0);
  const Tensor self = from_values<float>({1, 2});
  scatter_add_(self, 0, whole_numbers({1, 1}, {2}), self);
  CHECK(floats(self) == std::vector<float>{1, 5});
  CHECK(scatter_add(from_values<std::uint8_t>({250}), 0, whole_numbers({0}, {1}), from_values<std::uint8_t>({10}))
            .item<int>() == 4);
}

TEST_CASE("index_select and index_add work on slices") {
  const Tensor a = counted({3, 2});
  CHECK(floats(index_select(a, 0, whole_numbers({2, 0, 2}, {3}))) == std::vector<float>{4, 5, 0, 1, 4, 5});
  CHECK(floats(index_select(a, 1, whole_numbers({1}, {1}))) == std::vector<float>{1, 3, 5});
  CHECK(floats(index_select(t(a), 0, whole_numbers({1}, {}))) == std::vector<float>{1, 3, 5});
  CHECK(index_select(a, 0, zeros({0}, {DType::I64})).sizes() == Dims{0, 2});
  CHECK(index_select(full({}, 2), 0, whole_numbers({0}, {1})).dim() == 0);
  CHECK(floats(index_add(a, 0, whole_numbers({1, 1}, {2}), ones({2, 2}), 2)) == std::vector<float>{0, 1, 6, 7, 4, 5});
  index_add_(t(a), 1, whole_numbers({0}, {1}), ones({2, 1}));
  CHECK(floats(a) == std::vector<float>{1, 2, 2, 3, 4, 5});
  CHECK(a.version() == 1);
}

TEST_CASE("picking from several lines and blocks equals picking from each") {
  const Tensor numbers = whole_numbers({4, 0, 4, 2, 1, 3, 0}, {7});
  for (const std::int64_t lines : {1, 3, 4, 6, 9}) {
    INFO(lines);
    const Tensor a = counted({lines, 5}), taken = index_select(a, 1, numbers);
    for (std::int64_t i = 0; i < lines; ++i) {
      CHECK(equal(select(taken, 0, i), index_select(select(a, 0, i), 0, numbers)));
    }
  }
  const Tensor block = counted({2, 3, 4, 5}), index = expand(numbers, {2, 3, 4, 7}), taken = gather(block, 3, index);
  const Tensor sums = scatter_add(zeros({2, 3, 4, 5}), 3, index, counted({2, 3, 4, 7}));
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) {
      const auto part = [i, j](const Tensor& tensor) { return select(select(tensor, 0, i), 0, j); };
      CHECK(equal(part(taken), index_select(part(block), 1, numbers)));
      CHECK(equal(part(sums), index_add(zeros({4, 5}), 1, numbers, part(counted({2, 3, 4, 7})))));
    }
  }
}

TEST_CASE("an index out of range is refused with its value") {
  const Tensor a = counted({2, 3});
  CHECK_THROWS_WITH(gather(a, 1, whole_numbers({0, 3}, {2, 1})),
                    Contains("gather: index 3 is out of bounds for dimension 1 with size 3"));
  CHECK_THROWS_WITH(gather(a, 1, whole_numbers({-1, 0}, {2, 1})), Contains("index -1 is out of bounds"));
  CHECK_THROWS_WITH(index_select(a, 0, whole_numbers({2}, {1})), Contains("index_select: index 2"));
  CHECK_THROWS_WITH(scatter_add(a, 0, whole_numbers({9, 0, 0}, {1, 3}), a), Contains("scatter_add: index 9"));
  CHECK_THROWS_WITH(index_add(a, 0, whole_numbers({5}, {1}), ones({1, 3})), Contains("index_add: index 5"));
  const Tensor whole = zeros({3}, DType::I8);
  CHECK_THROWS_WITH(index_add(whole, 0, whole_numbers({1}, {1}), ones({1}, DType::I8), 0.5), Contains("it is 0.5"));
  CHECK_THROWS_WITH(gather(a, 1, zeros({2, 1})), Contains("the index must be int64"));
  CHECK_THROWS_WITH(gather(a, 1, whole_numbers({0}, {1})), Contains("as many dimensions"));
  CHECK_THROWS_WITH(gather(a, 1, zeros({3, 1}, {DType::I64})),
                    Contains("no larger than the tensor apart from dimension 1"));
  CHECK_THROWS_WITH(scatter_add(a, 1, zeros({2, 2}, {DType::I64}), ones({2, 1})),
                    Contains("no larger than the source"));
  CHECK_THROWS_WITH(scatter_add(a, 1, zeros({2, 2}, {DType::I64}), ones({2, 2}, {DType::F64})), Contains("same dtype"));
  CHECK_THROWS_WITH(index_select(a, 0, whole_numbers({0}, {1, 1})), Contains("a list of numbers"));
  CHECK_THROWS_WITH(scatter_add_(expand(ones({1}), {3}), 0, whole_numbers({0}, {1}), ones({1})),
                    Contains("clone() it first"));
}

TEST_CASE("one_hot") {
  const Tensor hot = one_hot(whole_numbers({0, 2}, {2}));
  CHECK(hot.sizes() == Dims{2, 3});
  CHECK(to_vector<std::int64_t>(hot) == std::vector<std::int64_t>{1, 0, 0, 0, 0, 1});
  CHECK(one_hot(whole_numbers({1}, {}), 4).sizes() == Dims{4});
  CHECK_THROWS_WITH(one_hot(whole_numbers({2}, {1}), 2), Contains("one_hot: index 2 is out of bounds"));
  CHECK_THROWS_WITH(one_hot(zeros({0}, {DType::I64})), Contains("the number of classes"));
}

}  // namespace distrun::tensor

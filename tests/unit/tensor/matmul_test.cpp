#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {
namespace {

using Catch::Matchers::Contains;

// Small integers, so that every order of summation gives the same.
Tensor numbered(const Dims& sizes, DType dtype) {
  const Tensor numbers = arange(device::count_of(sizes));
  return view(sub(to(numbers, dtype), 3), sizes);
}

double at(const Tensor& matrix, std::int64_t row, std::int64_t column) {
  return select(select(matrix, 0, row), 0, column).item_as<double>();
}

void check_product(const Tensor& a, const Tensor& b, const Tensor& product) {
  REQUIRE(product.sizes() == Dims{a.size(0), b.size(1)});
  for (std::int64_t row = 0; row < a.size(0); ++row) {
    for (std::int64_t column = 0; column < b.size(1); ++column) {
      double expected = 0;
      for (std::int64_t i = 0; i < a.size(1); ++i) expected += at(a, row, i) * at(b, i, column);
      REQUIRE(at(product, row, column) == expected);
    }
  }
}

}  // namespace

TEST_CASE("a product of matrices is the same for any layout") {
  const DType dtype = GENERATE(DType::F32, DType::F64, DType::I64, DType::I32, DType::U8);
  const Tensor a = numbered({4, 6}, dtype), b = numbered({6, 5}, dtype);
  if (dtype == DType::U8) {
    CHECK(matmul(a, b).dtype() == DType::U8);
    return;
  }
  const Tensor expected = matmul(a, b);
  check_product(a, b, expected);
  const Tensor a_turned = t(contiguous(t(a))), b_turned = t(contiguous(t(b)));
  CHECK(equal(matmul(a_turned, b), expected));
  CHECK(equal(matmul(a, b_turned), expected));
  CHECK(equal(mm(a_turned, b_turned), expected));
  const Tensor padded = narrow(cat({a, a}, 1), 1, 0, 6);
  CHECK_FALSE(padded.is_contiguous());
  CHECK(equal(matmul(padded, b), expected));
  const Tensor gaps = as_strided(cat({b, b}, 1), {6, 3}, {10, 2}, 0);
  check_product(a, gaps, matmul(a, gaps));
}

TEST_CASE("products of larger matrices are exact if every order of summation is") {
  const std::int64_t n = GENERATE(1, 2, 7, 16, 33, 70);
  const Tensor a = to(eq(numbered({n, n}, DType::I64), 3), DType::F32);
  const Tensor b = numbered({n, n + 1}, DType::F32);
  check_product(a, b, matmul(a, b));
}

TEST_CASE("products over many elements, and of a transposed matrix, are exact as well") {
  const Tensor a = to(lt(numbered({12, 600}, DType::I64), 3000), DType::F32), b = numbered({600, 24}, DType::F32);
  check_product(a, b, matmul(a, b));
  const Tensor turned = t(contiguous(t(narrow(a, 1, 0, 37))));
  check_product(turned, narrow(b, 0, 0, 37), matmul(turned, narrow(b, 0, 0, 37)));
}

TEST_CASE("a product has the same bits for any layout of its factors") {
  struct Sizes {
    std::int64_t rows, inner, columns;
  };
  const Sizes sizes = GENERATE(values<Sizes>({{3, 3, 3},
                                              {5, 4, 6},
                                              {11, 11, 11},
                                              {12, 12, 12},
                                              {33, 34, 35},
                                              {1, 2000, 1},
                                              {1, 300, 40},
                                              {40, 300, 1},
                                              {2, 700, 2}}));
  Generator generator(17);
  const Tensor a = randn({sizes.rows, sizes.inner}, {}, generator),
               b = randn({sizes.inner, sizes.columns}, {}, generator);
  const Tensor expected = matmul(a, b), turned = matmul(t(b), t(a));
  const auto moved = [](const Tensor& tensor, std::int64_t by) {
    const Tensor place = narrow(empty({tensor.numel() + by}), 0, by, tensor.numel());
    copy_(place, view(tensor, {-1}));
    return view(place, tensor.sizes());
  };
  for (std::int64_t by = 1; by < 16; ++by) {
    INFO("moved by " << by);
    const Tensor left = moved(a, by), right = moved(b, 16 - by);
    CHECK(equal(matmul(left, right), expected));
    CHECK(equal(matmul(t(right), t(left)), turned));
  }
}

TEST_CASE("vectors are rows on the left and columns on the right") {
  const Tensor v = numbered({3}, DType::F32), m = numbered({3, 2}, DType::F32);
  CHECK(matmul(v, v).dim() == 0);
  CHECK(matmul(v, v).item_as<float>() == 14);
  CHECK(to_vector<float>(matmul(v, m)) == std::vector<float>{10, 4});
  CHECK(to_vector<float>(matmul(t(m), v)) == std::vector<float>{10, 4});
  CHECK(matmul(numbered({4, 2, 3}, DType::F32), v).sizes() == Dims{4, 2});
  CHECK(matmul(v, numbered({4, 3, 2}, DType::F32)).sizes() == Dims{4, 2});
}

TEST_CASE("batches broadcast") {
  const Tensor a = numbered({2, 1, 3, 4}, DType::F64), b = numbered({5, 4, 2}, DType::F64);
  const Tensor product = matmul(a, b);
  REQUIRE(product.sizes() == Dims{2, 5, 3, 2});
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 5; ++j) {
      check_product(select(select(a, 0, i), 0, 0), select(b, 0, j), select(select(product, 0, i), 0, j));
    }
  }
  const Tensor left = numbered({2, 3, 3}, DType::F32);
  CHECK(equal(bmm(left, left), matmul(left, left)));
  const Tensor turned = transpose(left, 1, 2);
  CHECK(equal(bmm(turned, turned), bmm(contiguous(turned), contiguous(turned))));
}

TEST_CASE("factors that cannot be multiplied are refused with the shapes") {
  CHECK_THROWS_WITH(
      matmul(ones({3, 3}), ones({6, 6})),
      "matmul: mat1 and mat2 shapes cannot be multiplied (3x3 and 6x6) (float32 [3, 3] and float32 [6, 6])");
  CHECK_THROWS_WITH(mm(ones({3}), ones({3, 3})), Contains("mm: a tensor with 2 dimensions is needed"));
  CHECK_THROWS_WITH(matmul(ones({3, 3}), ones({3, 3}, {DType::F64})), Contains("same dtype"));
  CHECK_THROWS_WITH(matmul(ones({}), ones({3})), Contains("at least 1 dimension"));
  CHECK_THROWS_WITH(bmm(ones({2, 3, 4}), ones({2, 3, 4})), Contains("batch2 tensor to be: [2, 4] but got: [2, 3]"));
  CHECK_THROWS_WITH(matmul(ones({2, 3, 4}), ones({3, 4, 5})), Contains("size of tensor a (2)"));
  CHECK_THROWS_WITH(matmul(ones({2, 2}, {DType::Bool}), ones({2, 2}, {DType::Bool})), Contains("bool"));
  CHECK_THROWS_WITH(linear(ones({2, 3}), ones({4, 5})), Contains("(2x3 and 5x4)"));
}

TEST_CASE("products over no elements are zeros") {
  CHECK(to_vector<float>(matmul(ones({2, 0}), ones({0, 2}))) == std::vector<float>(4, 0));
  CHECK(matmul(ones({0, 3}), ones({3, 2})).sizes() == Dims{0, 2});
  CHECK(matmul(ones({0, 3, 4}), ones({4, 2})).sizes() == Dims{0, 3, 2});
  CHECK(to_vector<float>(bmm(ones({1, 1, 0}), ones({1, 0, 1}))) == std::vector<float>{0});
}

TEST_CASE("a chain of products is the same in its best order") {
  const Tensor a = numbered({4, 5}, DType::F64), b = numbered({5, 7}, DType::F64), c = numbered({7, 9}, DType::F64);
  CHECK(equal(multi_dot({a, b, c}), matmul(matmul(a, b), c)));
  CHECK(equal(multi_dot({a, b}), matmul(a, b)));
  const Tensor v = numbered({4}, DType::F64), w = numbered({9}, DType::F64);
  CHECK(equal(multi_dot({v, a, b, c, w}), matmul(matmul(v, matmul(matmul(a, b), c)), w)));
  CHECK_THROWS_WITH(multi_dot({a}), Contains("2 to 256 tensors are needed, but got 1"));
  CHECK_THROWS_WITH(multi_dot({a, v, c}), Contains("multi_dot: tensor 1 must have 2 dimensions"));
  CHECK_THROWS_WITH(multi_dot({a, c}), Contains("(4x5 and 7x9)"));
}

TEST_CASE("a linear layer takes any number of leading dimensions") {
  const Tensor x = numbered({2, 5, 3}, DType::F32), w = numbered({4, 3}, DType::F32), bias = numbered({4}, DType::F32);
  const Tensor y = linear(x, w, bias);
  CHECK(y.sizes() == Dims{2, 5, 4});
  CHECK(equal(y, add(matmul(x, t(w)), bias)));
  CHECK(linear(select(select(x, 0, 0), 0, 0), w).sizes() == Dims{4});
  CHECK(linear(ones({0, 3}), w, bias).sizes() == Dims{0, 4});
}

TEST_CASE("integers in a product have one dtype, even if there are no elements to multiply") {
  CHECK_THROWS_AS(matmul(zeros({0, 2}, {DType::I64}), zeros({2, 0}, {DType::U8})), Error);
}

}  // namespace distrun::tensor

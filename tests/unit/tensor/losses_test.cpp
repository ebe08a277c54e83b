#include <catch2/catch.hpp>

#include <cmath>

#include <distrun/runtime/tensor/closeness.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {
namespace {

using Catch::Matchers::Contains;

Tensor classes(std::initializer_list<std::int64_t> numbers) { return from_values<std::int64_t>(numbers); }

// Computed with exp and log of the C library, in double.
Tensor plain_log_softmax(const Tensor& rows) {
  std::vector<double> numbers = to_vector<double>(to(rows, DType::F64));
  const auto size = static_cast<std::size_t>(rows.size(1));
  for (std::size_t first = 0; first < numbers.size(); first += size) {
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) sum += std::exp(numbers[first + i]);
    for (std::size_t i = 0; i < size; ++i) numbers[first + i] -= std::log(sum);
  }
  return from_values<double>(std::span<const double>(numbers), rows.sizes());
}

}  // namespace

TEST_CASE("softmax and its logarithm are the same bits with every instruction set, of short and long lines") {
  for (const std::int64_t size : {1, 3, 10, 17, 100, 1023, 1024, 1025, 3000}) {
    Generator generator(static_cast<std::uint64_t>(size));
    const Tensor rows = mul(randn({3, size}, {}, generator), 3), columns = contiguous(t(rows));
    use_instruction_set(InstructionSet::Plain);
    const Tensor plain_softmax_of_rows = softmax(rows, 1), plain_log = log_softmax(rows, 1);
    INFO(size << " elements");
    CHECK(difference(to(plain_log, DType::F64), plain_log_softmax(rows), {.tolerance = Tolerance{2e-6, 2e-6}})
              .value_or("") == "");
    CHECK(difference(to(plain_softmax_of_rows, DType::F64), exp(plain_log_softmax(rows)),
                     {.tolerance = Tolerance{2e-6, 1e-7}})
              .value_or("") == "");
    CHECK(is_close(t(log_softmax(columns, 0)), plain_log));
    CHECK(is_close(t(softmax(columns, 0)), plain_softmax_of_rows));
    const Tensor plain_columns = log_softmax(columns, 0);
    for (const InstructionSet set : {InstructionSet::Avx2, InstructionSet::Avx512}) {
      if (set > best_instruction_set()) continue;
      use_instruction_set(set);
      CHECK(equal(softmax(rows, 1), plain_softmax_of_rows));
      CHECK(equal(log_softmax(rows, 1), plain_log));
      CHECK(equal(log_softmax(columns, 0), plain_columns));
    }
  }
  use_instruction_set(best_instruction_set());
}

TEST_CASE("a logarithm of a softmax stays exact where the softmax is 0") {
  const Tensor far = from_values<float>({0, -200, 1000, -1000}, {2, 2});
  CHECK(to_vector<float>(log_softmax(far, 1)) == std::vector<float>{0, -200, 0, -2000});
  CHECK(to_vector<float>(softmax(far, 1)) == std::vector<float>{1, 0, 1, 0});
  CHECK(std::isnan(to_vector<float>(softmax(from_values<float>({std::nanf(""), 1}), 0))[1]));
  CHECK(std::isnan(to_vector<float>(log_softmax(full({2}, -INFINITY), 0))[0]));
  CHECK(log_softmax(full({}, 3), 0).item<float>() == 0);
  CHECK(softmax(zeros({0, 3}), 0).sizes() == Dims{0, 3});
  CHECK_THROWS_WITH(log_softmax(ones({2}, {DType::I64}), 0), Contains("log_softmax: a floating dtype is required"));
}

TEST_CASE("cross_entropy of vectors, of one sample, and of none") {
  const Tensor even = zeros({2, 4});
  CHECK(cross_entropy(even, classes({0, 3})).item<float>() == Approx(std::log(4.0)));
  CHECK(cross_entropy(zeros({4}), full({}, 1, {DType::I64})).item<float>() == Approx(std::log(4.0)));
  CHECK(std::isnan(cross_entropy(zeros({0, 4}), zeros({0}, {DType::I64})).item<float>()));
  CHECK(std::isnan(cross_entropy(even, classes({-100, -100})).item<float>()));
  CHECK(cross_entropy(even, classes({-100, -100}), {.reduction = Reduction::Sum}).item<float>() == 0);
  const Tensor each = cross_entropy(even, classes({2, -100}), {.reduction = Reduction::None});
  CHECK(to_vector<float>(each) == std::vector<float>{std::log(4.0F), 0});
}

TEST_CASE("losses of classes refuse invalid classes, and sizes that do not fit") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_WITH(cross_entropy(x, classes({0, 3})),
                    Contains("cross_entropy: target 3 is out of bounds for 3 classes"));
  CHECK_THROWS_WITH(nll_loss(x, classes({-1, 0})), Contains("nll_loss: target -1"));
  CHECK_THROWS_WITH(cross_entropy(x, classes({0})), Contains("the input's sizes without that of the classes"));
  CHECK_THROWS_WITH(cross_entropy(x, zeros({2})), Contains("int64"));
  CHECK_THROWS_WITH(cross_entropy(x, classes({0, 1}), {.weight = ones({2})}),
                    Contains("one weight for each of 3 classes"));
  CHECK_THROWS_WITH(cross_entropy(x, classes({0, 1}), {.label_smoothing = 1.5}),
                    Contains("label_smoothing must be 0 to 1"));
  CHECK_THROWS_WITH(cross_entropy(Tensor(), classes({0})), Contains("a tensor is required"));
  CHECK_THROWS_WITH(parse_reduction("nll_loss", "all"), Contains("\"none\", \"mean\" or \"sum\""));
}

TEST_CASE("layer_norm normalises rows to mean 0 and variance 1, with every instruction set") {
  Generator generator(4);
  const Tensor x = add(mul(randn({5, 33}, {}, generator), 4), 100);
  use_instruction_set(InstructionSet::Plain);
  const Tensor normal = layer_norm(x, {33}, {}, {}, 0).result;
  CHECK(is_close(mean(normal, 1), zeros({5}), {.tolerance = Tolerance{0, 1e-5}}));
  CHECK(is_close(var(normal, 1, false), ones({5}), {.tolerance = Tolerance{1e-5, 0}}));
  for (const InstructionSet set : {InstructionSet::Avx2, InstructionSet::Avx512}) {
    if (set > best_instruction_set()) continue;
    use_instruction_set(set);
    CHECK(equal(layer_norm(x, {33}, {}, {}, 0).result, normal));
  }
  use_instruction_set(best_instruction_set());
  CHECK(layer_norm(zeros({0, 3}), {3}).result.sizes() == Dims{0, 3});
  CHECK_THROWS_WITH(layer_norm(x, {5}), Contains("layer_norm: the input's last sizes must be [5]"));
  CHECK_THROWS_WITH(layer_norm(x, {}), Contains("at least one"));
  CHECK_THROWS_WITH(layer_norm(x, {33}, ones({3})), Contains("weight and bias must have the sizes [33]"));
}

}  // namespace distrun::tensor

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {
namespace {

using Catch::Matchers::Contains;

Tensor f32(std::initializer_list<float> values, const Dims& sizes) { return from_values(values, sizes); }
Tensor i64(std::initializer_list<std::int64_t> values, const Dims& sizes) { return from_values(values, sizes); }

template <class T>
std::vector<T> vec(std::initializer_list<T> values) {
  return values;
}

}  // namespace

TEST_CASE("a sum broadcasts both sides") {
  const Tensor column = f32({1, 2}, {2, 1});
  const Tensor row = f32({10, 20, 30}, {3});
  const Tensor sum = add(column, row);
  CHECK(sum.sizes() == Dims{2, 3});
  CHECK(to_vector<float>(sum) == vec<float>({11, 21, 31, 12, 22, 32}));
  CHECK(to_vector<float>(sub(column, row, 2)) == vec<float>({-19, -39, -59, -18, -38, -58}));
}

TEST_CASE("sizes that do not broadcast are refused with the operator, the sizes and the dtypes") {
  const Tensor ten = ones({10}), five = ones({5}, {DType::F64});
  CHECK_THROWS_WITH(add(ten, five),
                    "add: the size of tensor a (10) must match the size of tensor b (5) at "
                    "non-singleton dimension 0 (float32 [10] and float64 [5])");
  CHECK_THROWS_WITH(mul(ones({2, 3}), ones({4, 3})), Contains("mul: the size of tensor a (2)") && Contains("(4)"));
  CHECK_THROWS_WITH(add_(ones({1}), ones({2})), Contains("add_: ") && Contains("broadcast sizes [2]"));
}

TEST_CASE("dtypes are promoted, and numbers only by their kind") {
  CHECK(add(ones({2}), ones({2}, {DType::F64})).dtype() == DType::F64);
  CHECK(add(ones({2}, {DType::I64}), ones({2})).dtype() == DType::F32);
  CHECK(mul(ones({2}, {DType::U8}), ones({2}, {DType::I8})).dtype() == DType::I16);
  CHECK(mul(ones({2}), 2.5).dtype() == DType::F32);
  CHECK(mul(ones({2}, {DType::I16}), 3).dtype() == DType::I16);
  CHECK(mul(ones({2}, {DType::I16}), 0.5).dtype() == DType::F32);
  CHECK(add(ones({2}, {DType::Bool}), 3).dtype() == DType::I64);
  // A tensor without dimensions has lower priority in type promotion.
  CHECK(add(ones({2}), ones({}, {DType::F64})).dtype() == DType::F32);
  CHECK(add(ones({2}, {DType::I32}), ones({}, {DType::I64})).dtype() == DType::I32);
  CHECK(add(ones({2}, {DType::I32}), ones({}, {DType::F64})).dtype() == DType::F64);
}

TEST_CASE("alpha does not affect the dtype of a sum") {
  const Tensor flags = from_values<bool>({true, false});
  CHECK(add(flags, true).dtype() == DType::Bool);
  CHECK(to_vector<bool>(add(flags, true, 2)) == std::vector<bool>{true, true});
  CHECK(to_vector<std::int64_t>(add(flags, 1, 3)) == vec<std::int64_t>({4, 3}));
  CHECK(to_vector<std::int16_t>(sub(full({1}, 7, {DType::I16}), true, 3)) == vec<std::int16_t>({4}));
  add_(flags, true);
  CHECK(to_vector<bool>(flags) == std::vector<bool>{true, true});
}

TEST_CASE("every pair of dtypes adds and multiplies as its promoted type does") {
  for (int i = 0; i < kDTypeCount; ++i) {
    for (int j = 0; j < kDTypeCount; ++j) {
      const DType a = static_cast<DType>(i), b = static_cast<DType>(j);
      const Tensor sum = add(full({3}, 1, {a}), full({3}, 1, {b}));
      CHECK(sum.dtype() == promote(a, b));
      CHECK(to_vector<double>(to(sum, DType::F64)) == std::vector<double>(3, sum.dtype() == DType::Bool ? 1 : 2));
      CHECK(to_vector<double>(to(mul(full({3}, 1, {a}), full({3}, 1, {b})), DType::F64)) == std::vector<double>(3, 1));
    }
  }
}

TEST_CASE("integers wrap as two's complement does") {
  const Tensor most = full({3}, 127, {DType::I8});
  CHECK(to_vector<std::int8_t>(add(most, most)) == std::vector<std::int8_t>(3, -2));
  CHECK(to_vector<std::int64_t>(add(full({1}, INT64_MAX, {DType::I64}), 1)) == vec<std::int64_t>({INT64_MIN}));
  CHECK(to_vector<std::int64_t>(neg(full({1}, INT64_MIN, {DType::I64}))) == vec<std::int64_t>({INT64_MIN}));
  CHECK(to_vector<std::uint8_t>(sub(full({1}, 1, {DType::U8}), full({1}, 2, {DType::U8}))) == vec<std::uint8_t>({255}));
  CHECK(to_vector<std::int16_t>(mul(full({1}, 300, {DType::I16}), 300)) == vec<std::int16_t>({24464}));
}

TEST_CASE("division is true division for integers too") {
  const Tensor halves = div(i64({1, 2, 3}, {3}), 2);
  CHECK(halves.dtype() == DType::F32);
  CHECK(to_vector<float>(halves) == vec<float>({0.5F, 1.0F, 1.5F}));
  CHECK(to_vector<float>(div(i64({1, 4}, {2}), i64({2, 8}, {2}))) == vec<float>({0.5F, 0.5F}));
  CHECK(to_vector<float>(rdiv(1, i64({2, 4}, {2}))) == vec<float>({0.5F, 0.25F}));
  CHECK(std::isinf(div(ones({1}), 0).item_as<float>()));
}

TEST_CASE("in-place operators keep the dtype, count a change and refuse what does not fit") {
  const Tensor a = f32({1, 2, 3}, {3});
  CHECK(a.version() == 0);
  add_(a, ones({3}, {DType::F64}), 2);
  mul_(a, 2);
  CHECK(a.dtype() == DType::F32);
  CHECK(to_vector<float>(a) == vec<float>({6, 8, 10}));
  CHECK(a.version() == 2);
  const Tensor integers = i64({1, 2}, {2});
  CHECK_THROWS_WITH(div_(integers, 2), "div_: result type float32 cannot be cast to the output's (int64 [2])");
  CHECK_THROWS_WITH(add_(integers, ones({2})), Contains("result type float32"));
  CHECK(integers.version() == 0);
  CHECK(to_vector<std::int64_t>(integers) == vec<std::int64_t>({1, 2}));
}

TEST_CASE("an in-place operator may read its own output shifted or transposed") {
  const Tensor a = f32({1, 2, 3, 4}, {4});
  add_(narrow(a, 0, 1, 3), narrow(a, 0, 0, 3));
  CHECK(to_vector<float>(a) == vec<float>({1, 3, 5, 7}));
  const Tensor square = f32({1, 2, 3, 4}, {2, 2});
  add_(square, t(square));
  CHECK(to_vector<float>(square) == vec<float>({2, 5, 5, 8}));
  mul_(a, select(a, 0, 3));
  CHECK(to_vector<float>(a) == vec<float>({7, 21, 35, 49}));
}

TEST_CASE("a tensor with overlapping elements is not written to") {
  const Tensor wide = expand(ones({1, 3}), {2, 3});
  CHECK_THROWS_WITH(add_(wide, 1), Contains("several elements of the output"));
  CHECK_THROWS_WITH(copy_(wide, ones({2, 3})), Contains("copy_: several elements of the output share memory"));
}

TEST_CASE("alpha of integers must be an integer, and bool tensors are not subtracted") {
  CHECK_THROWS_WITH(add(i64({1}, {1}), i64({1}, {1}), 0.5), Contains("alpha must not be a floating number"));
  CHECK_THROWS_WITH(sub(ones({1}, {DType::Bool}), ones({1}, {DType::Bool})),
                    Contains("bool tensors cannot be subtracted"));
  CHECK_THROWS_WITH(neg(ones({1}, {DType::Bool})), Contains("neg: not for elements of bool"));
}

TEST_CASE("an alpha out of the dtype's range is refused, and a negative one subtracts from unsigned elements") {
  const Tensor small = ones({1}, {DType::I8}), index = i64({0}, {1});
  CHECK_THROWS_WITH(add(small, small, 128),
                    "add: for tensors of int8 alpha must be a number that fits them, but it is 128");
  CHECK_THROWS_WITH(sub(small, small, -129), Contains("sub: for tensors of int8 alpha must"));
  CHECK_THROWS_WITH(add_(small, 1, 300), Contains("add_: for tensors of int8 alpha must"));
  CHECK_THROWS_WITH(sub_(small, small, 300), Contains("sub_: for tensors of int8 alpha must"));
  CHECK_THROWS_WITH(index_add(small, 0, index, small, 300), Contains("index_add: for tensors of int8 alpha must"));
  CHECK_THROWS_WITH(add(ones({1}), ones({1}), 1e300),
                    Contains("alpha must be a number that fits them, but it is 1e+300"));
  CHECK(to_vector<std::int8_t>(small) == vec<std::int8_t>({1}));
  CHECK(to_vector<std::int8_t>(add(small, small, -128)) == vec<std::int8_t>({-127}));
  CHECK(to_vector<float>(add(ones({1}, {DType::F32}), 1, 300)) == vec<float>({301}));

  const Tensor unsigned_one = ones({1}, {DType::U8});
  CHECK(to_vector<std::uint8_t>(add(unsigned_one, unsigned_one, -255)) == vec<std::uint8_t>({2}));
  CHECK_THROWS_WITH(add(unsigned_one, unsigned_one, -256), Contains("uint8 alpha must"));
}

TEST_CASE("operators on tensors that are not contiguous follow their strides") {
  const Tensor a = to(view(arange(24), {2, 3, 4}), DType::F32);
  const Tensor turned = permute(a, {2, 0, 1});
  const std::vector<float> expected = to_vector<float>(contiguous(turned));
  CHECK(to_vector<float>(add(turned, 0)) == expected);
  CHECK(to_vector<float>(add(contiguous(turned), zeros({1, 2, 1}))) == expected);
  CHECK(to_vector<float>(sub(turned, contiguous(turned))) == std::vector<float>(24, 0));
  const Tensor even = as_strided(a, {3, 2}, {8, 2}, 1);
  CHECK(to_vector<float>(mul(even, even)) == vec<float>({1, 9, 81, 121, 289, 361}));
}

TEST_CASE("large tensors with different strides are processed in short runs") {
  const Tensor a = view(arange(300 * 500), {300, 500});
  const Tensor turned = contiguous(t(a));
  CHECK(turned.is_contiguous());
  CHECK(equal(t(turned), a));
  CHECK(to_vector<std::int64_t>(select(turned, 0, 499)).back() == 300 * 500 - 1);
  CHECK(equal(add(turned, t(a)), mul(turned, 2)));
  const Tensor block = view(arange(40 * 33 * 70), {40, 33, 70});
  CHECK(equal(permute(contiguous(permute(block, {2, 1, 0})), {2, 1, 0}), block));
}

TEST_CASE("comparisons give bool, and nothing equals NaN") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor a = f32({1, nan, 3}, {3});
  CHECK(eq(a, a).dtype() == DType::Bool);
  CHECK(to_vector<bool>(eq(a, a)) == std::vector<bool>({true, false, true}));
  CHECK(to_vector<bool>(ne(a, 3)) == std::vector<bool>({true, true, false}));
  CHECK(to_vector<bool>(lt(a, i64({2, 2, 2}, {3}))) == std::vector<bool>({true, false, false}));
  CHECK(to_vector<bool>(ge(a, 3)) == std::vector<bool>({false, false, true}));
  CHECK(to_vector<bool>(le(a, 1)) == std::vector<bool>({true, false, false}));
  CHECK(to_vector<bool>(gt(a, 1)) == std::vector<bool>({false, false, true}));
}

TEST_CASE("a number that integers cannot represent is compared exactly") {
  const Tensor bytes = from_values<std::uint8_t>({200, 44});
  using Compare = Tensor (*)(const Tensor&, const Scalar&);
  constexpr Compare kBelow[] = {lt, le, ne}, kNotBelow[] = {gt, ge, eq};
  constexpr Compare kAbove[] = {gt, ge, ne}, kNotAbove[] = {lt, le, eq};
  const std::vector<bool> none(2, false), both(2, true);
  for (int i = 0; i < 3; ++i) {
    INFO(i);
    for (const std::int64_t large : {std::int64_t{256}, std::int64_t{300}, INT64_MAX}) {
      CHECK(to_vector<bool>(kBelow[i](bytes, large)) == both);
      CHECK(to_vector<bool>(kNotBelow[i](bytes, large)) == none);
    }
    for (const std::int64_t small : {std::int64_t{-1}, std::int64_t{-56}, INT64_MIN}) {
      CHECK(to_vector<bool>(kAbove[i](bytes, small)) == both);
      CHECK(to_vector<bool>(kNotAbove[i](bytes, small)) == none);
    }
  }
  CHECK(lt(full({}, 5, DType::I32), std::int64_t{1} << 33).item<bool>());
  CHECK(lt(zeros({2, 0}, DType::I8), 1000).sizes() == Dims{2, 0});
  // Compared in float32, as in a sum.
  CHECK(to_vector<bool>(gt(bytes, 44.5)) == std::vector<bool>{true, false});
  CHECK(to_vector<bool>(lt(bytes, 300.5)) == both);
  const double nan = std::nan("");
  CHECK(to_vector<bool>(ne(bytes, nan)) == both);
  for (const Compare compare : {Compare(eq), Compare(lt), Compare(gt)})
    CHECK(to_vector<bool>(compare(bytes, nan)) == none);
}

TEST_CASE("integers are compared exactly, also with a tensor without dimensions") {
  const Tensor bytes = from_values<std::uint8_t>({200, 44});
  CHECK(to_vector<bool>(lt(bytes, full({}, 300, DType::I64))) == std::vector<bool>{true, true});
  CHECK(to_vector<bool>(eq(full({}, 300, DType::I32), bytes)) == std::vector<bool>{false, false});
  CHECK(to_vector<bool>(gt(bytes, full({}, -56, DType::I8))) == std::vector<bool>{true, true});
  CHECK(to_vector<bool>(eq(from_values<bool>({true, false}), full({}, 2, DType::I64))) ==
        std::vector<bool>{false, false});
}

TEST_CASE("functions of one tensor") {
  const Tensor a = f32({-1.5F, 0, 2}, {3});
  CHECK(to_vector<float>(neg(a)) == vec<float>({1.5F, 0, -2}));
  CHECK(to_vector<float>(relu(a)) == vec<float>({0, 0, 2}));
  CHECK_THROWS_WITH(relu(ones({2}, DType::Bool)), "relu: not for elements of bool (bool [2])");
  CHECK(to_vector<float>(clamp_min(a, -1)) == vec<float>({-1, 0, 2}));
  CHECK(sigmoid(a).size(0) == 3);
  CHECK(to_vector<float>(sigmoid(zeros({1}))) == vec<float>({0.5F}));
  CHECK(to_vector<float>(cos(zeros({1}, {DType::I32}))) == vec<float>({1}));
  CHECK(std::isnan(relu(full({1}, std::nan(""))).item_as<float>()));
  CHECK(to_vector<float>(threshold_backward(ones({3}), a, 0)) == vec<float>({0, 0, 1}));
  CHECK(to_vector<float>(clamp_min_backward(ones({3}), a, 0)) == vec<float>({0, 1, 1}));
}

TEST_CASE("roots are exact to the last place in every instruction set") {
  const Tensor a = f32({0, 2, 1e-40F, 3e38F, 9}, {5});
  for (const InstructionSet set : {InstructionSet::Plain, best_instruction_set()}) {
    use_instruction_set(set);
    CHECK(to_vector<float>(sqrt(a)) == vec<float>({0, std::sqrt(2.0F), std::sqrt(1e-40F), std::sqrt(3e38F), 3}));
  }
  CHECK(to_vector<double>(sqrt(full({9}, 2, {DType::F64}))) == std::vector<double>(9, std::sqrt(2.0)));
  CHECK(to_vector<float>(sqrt(i64({4}, {1}))) == vec<float>({2}));
  CHECK(std::isnan(sqrt(f32({-1}, {1})).item_as<float>()));
}

TEST_CASE("the larger of two elements, which is NaN if one of them is") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(to_vector<float>(maximum(f32({-1, 5}, {2, 1}), f32({0, 7}, {2}))) == vec<float>({0, 7, 5, 7}));
  CHECK(to_vector<std::int64_t>(maximum(i64({-3, 4}, {2}), i64({2, -9}, {2}))) == vec<std::int64_t>({2, 4}));
  CHECK(maximum(i64({1}, {1}), f32({0}, {1})).dtype() == DType::F32);
  for (const float value : to_vector<float>(maximum(f32({nan, 1, nan}, {3}), f32({1, nan, nan}, {3})))) {
    CHECK(std::isnan(value));
  }
}

TEST_CASE("functions of float are exact to the last places, for large arguments and all instruction sets") {
  std::vector<float> arguments{0, -0.0F, 1e-40F, 88, -88, 104, -104, 1e6F, 1000001, 3e38F, -3e38F};
  for (int i = 0; i < 3000; ++i) arguments.push_back(static_cast<float>(std::sin(i) * std::pow(10.0, i % 9 - 2)));
  const Tensor a = from_values(std::span<const float>(arguments), {static_cast<std::int64_t>(arguments.size())});
  const auto check = [&](Tensor (*of)(const Tensor&), double (*exact)(double), double relative) {
    use_instruction_set(InstructionSet::Plain);
    const std::vector<float> plain = to_vector<float>(of(a));
    use_instruction_set(best_instruction_set());
    CHECK(to_vector<float>(of(a)) == plain);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      INFO("of " << arguments[i] << ": " << plain[i]);
      const double expected = exact(arguments[i]);
      CHECK(std::abs(plain[i] - expected) <= relative * std::abs(expected) + 1e-38);
    }
  };
  check(
      &plain::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, 1.8e-7);
  check(
      &plain::sin, [](double x) { return std::sin(x); }, 7e-8);
  check(
      &plain::cos, [](double x) { return std::cos(x); }, 7e-8);
}

TEST_CASE("functions of float handle infinities, the sign of zero and NaN") {
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor a = f32({infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}, {3});
  for (const Tensor& none : {sin(a), cos(a), narrow(sigmoid(a), 0, 2, 1)}) {
    for (const float value : to_vector<float>(none)) CHECK(std::isnan(value));
  }
  CHECK(to_vector<float>(narrow(sigmoid(a), 0, 0, 2)) == vec<float>({1, 0}));
  CHECK(std::signbit(sin(f32({-0.0F}, {1})).item_as<float>()));
}

TEST_CASE("a NaN bound gives NaN, and no gradient") {
  const double nan = std::nan("");
  const Tensor a = f32({-1, 2, std::numeric_limits<float>::quiet_NaN()}, {3});
  for (const float value : to_vector<float>(clamp_min(a, nan))) CHECK(std::isnan(value));
  CHECK(clamp_min(i64({1}, {1}), nan).dtype() == DType::F32);
  CHECK(to_vector<float>(clamp_min_backward(ones({3}), a, nan)) == vec<float>({0, 0, 0}));
  CHECK(to_vector<float>(clamp_min_backward(ones({3}), a, 0)) == vec<float>({0, 1, 0}));
}

TEST_CASE("a number out of the dtype's range is refused and not wrapped") {
  const Tensor bytes = zeros({2}, {DType::U8});
  fill_(bytes, 255.9);
  CHECK(to_vector<std::uint8_t>(bytes) == std::vector<std::uint8_t>(2, 255));
  CHECK_THROWS_WITH(fill_(bytes, 256), "fill_: 256 does not fit uint8");
  CHECK_THROWS_WITH(fill_(bytes, -1), Contains("-1 does not fit uint8"));
  CHECK_THROWS_WITH(fill_(zeros({1}, {DType::I64}), 0x1p63), Contains("does not fit int64"));
  CHECK_THROWS_WITH(full({1}, std::nan(""), {DType::I32}), "full: nan does not fit int32");
  CHECK_THROWS_WITH(full({1}, 1e300), "full: 1e+300 does not fit float32");
  CHECK_THROWS_WITH(clamp_min(zeros({1}, {DType::I8}), 300), "clamp_min: 300 does not fit int8");
  CHECK(std::isinf(full({1}, -std::numeric_limits<double>::infinity()).item_as<float>()));
  CHECK(to_vector<std::int64_t>(full({1}, -0x1p63, {DType::I64})) == vec<std::int64_t>({INT64_MIN}));
  CHECK(full({1}, std::nan(""), {DType::Bool}).item_as<bool>());
}

TEST_CASE("tensors without elements and without dimensions work with every operator") {
  const Tensor none = zeros({0, 3}), number = ones({});
  CHECK(add(none, ones({3})).sizes() == Dims{0, 3});
  CHECK(mul(none, 2).numel() == 0);
  CHECK(relu(none).numel() == 0);
  CHECK(eq(none, none).numel() == 0);
  add_(none, none);
  CHECK(add(number, number).item_as<float>() == 2);
  CHECK(add(number, number).dim() == 0);
  CHECK_THROWS_WITH(none.item(), Contains("item: a tensor with 0 elements"));
  CHECK_THROWS_WITH(add(none, ones({4})), Contains("must match the size of tensor b (4)"));
}

TEST_CASE("an undefined tensor is refused by name") {
  CHECK_THROWS_WITH(add(Tensor(), ones({1})), "add: a tensor is required, but one is undefined");
  CHECK_THROWS_AS(Tensor().strided(), Error);
}

}  // namespace distrun::tensor

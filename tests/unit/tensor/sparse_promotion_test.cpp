// Dense and sparse tensors have the same type promotion, and give the same numbers.
#include <functional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/closeness.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {
namespace {

using Catch::Matchers::Contains;
using Operator = std::function<Tensor(const Tensor&, const Tensor&)>;

constexpr DType kAllDTypes[] = {DType::Bool, DType::U8,  DType::I8,  DType::I16,
                                DType::I32,  DType::I64, DType::F32, DType::F64};

// Returns [1, 0, 2] or [0, 0, 3], with entries for nonzero elements; as bool [1, 0, 1] and [0, 0, 1].
Tensor dense_of(DType dtype, int which) {
  return to(which == 0 ? from_values<std::int64_t>({1, 0, 2}) : from_values<std::int64_t>({0, 0, 3}), dtype);
}
Tensor sparse_of(DType dtype, int which) {
  const Tensor indices =
      which == 0 ? from_values<std::int64_t>({0, 2}, {1, 2}) : from_values<std::int64_t>({2}, {1, 1});
  const Tensor values = which == 0 ? from_values<std::int64_t>({1, 2}) : from_values<std::int64_t>({3});
  return sparse_coo(indices, to(values, dtype), {3});
}

// Returns the resulting numbers, or undefined if refused.
Tensor outcome(const Operator& run, const Tensor& a, const Tensor& b) {
  try {
    return to_dense(run(a, b));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::InvalidArgument);
    return {};
  }
}

void check_like_dense(const Operator& run, DType a, DType b, bool has_first_sparse, bool has_second_sparse) {
  INFO(name_of(a) << (has_first_sparse ? " sparse" : "") << " and " << name_of(b)
                  << (has_second_sparse ? " sparse" : ""));
  const Tensor wanted = outcome(run, dense_of(a, 0), dense_of(b, 1));
  const Tensor found = outcome(run, has_first_sparse ? sparse_of(a, 0) : dense_of(a, 0),
                               has_second_sparse ? sparse_of(b, 1) : dense_of(b, 1));
  REQUIRE(found.defined() == wanted.defined());
  if (!wanted.defined()) return;
  CHECK(found.dtype() == wanted.dtype());
  CHECK(equal(found, wanted));
}

Operator in_place(void (*run)(const Tensor&, const Tensor&)) {
  return [run](const Tensor& a, const Tensor& b) {
    const Tensor changed = clone(a);
    run(changed, b);
    return changed;
  };
}

void add_half_(const Tensor& a, const Tensor& b) { add_(a, b, 0.5); }
void add_twice_(const Tensor& a, const Tensor& b) { add_(a, b, 2); }
void add_once_(const Tensor& a, const Tensor& b) { add_(a, b); }
void sub_once_(const Tensor& a, const Tensor& b) { sub_(a, b); }
void mul_tensors_(const Tensor& a, const Tensor& b) { mul_(a, b); }

template <class Check>
void for_all_pairs(Check check) {
  for (const DType a : kAllDTypes) {
    for (const DType b : kAllDTypes) check(a, b);
  }
}

}  // namespace

TEST_CASE("sums, differences and products with sparse tensors are those of dense ones, for all dtypes") {
  const std::vector<std::pair<std::string, Operator>> operators{
      {"add", [](auto& a, auto& b) { return add(a, b); }},
      {"add twice", [](auto& a, auto& b) { return add(a, b, 2); }},
      {"add half", [](auto& a, auto& b) { return add(a, b, 0.5); }},
      {"add true", [](auto& a, auto& b) { return add(a, b, true); }},
      {"sub", [](auto& a, auto& b) { return sub(a, b); }},
      {"sub twice", [](auto& a, auto& b) { return sub(a, b, 2); }},
      {"sub half", [](auto& a, auto& b) { return sub(a, b, 0.5); }},
      {"mul", [](auto& a, auto& b) { return mul(a, b); }},
  };
  for (const auto& [name, run] : operators) {
    INFO(name);
    for_all_pairs([&run = run](DType a, DType b) {
      check_like_dense(run, a, b, true, true);
      check_like_dense(run, a, b, true, false);
      check_like_dense(run, a, b, false, true);
    });
  }
}

TEST_CASE("in-place results equal dense ones, and one that cannot be cast to the output's dtype is refused for both") {
  for (auto* const run : {add_once_, add_twice_, add_half_, sub_once_, mul_tensors_}) {
    for_all_pairs([run](DType a, DType b) { check_like_dense(in_place(run), a, b, true, true); });
  }
  for (auto* const run : {add_once_, add_twice_, add_half_, sub_once_}) {
    for_all_pairs([run](DType a, DType b) { check_like_dense(in_place(run), a, b, false, true); });
  }
  for_all_pairs([](DType a, DType b) { check_like_dense(in_place(mul_tensors_), a, b, true, false); });
}

TEST_CASE("a sparse tensor and one without dimensions give the same as dense ones") {
  for_all_pairs([](DType a, DType b) {
    INFO(name_of(a) << " and " << name_of(b));
    const Tensor number = to(full({}, 3), b);
    CHECK(equal(to_dense(mul(sparse_of(a, 0), number)), mul(dense_of(a, 0), number)));
    CHECK(equal(to_dense(mul(number, sparse_of(a, 0))), mul(number, dense_of(a, 0))));
    CHECK(equal(to_dense(div(sparse_of(a, 0), number)), div(dense_of(a, 0), number)));
    const Tensor point = sparse_coo(empty({0, 1}, {DType::I64}), to(full({1}, 2), a), {});
    CHECK(to_dense(mul(point, number)).dtype() == result_type(number, point));
    CHECK(equal(to_dense(div(point, number)), div(to_dense(point), number)));
  });
}

TEST_CASE("the square of a sparse tensor is that of the dense one, in its dtype") {
  for (const DType dtype : kAllDTypes) {
    INFO(name_of(dtype));
    // Has a second entry for one index.
    const Tensor twice = add(sparse_of(dtype, 0), sparse_of(dtype, 1));
    for (const Tensor& sparse : {sparse_of(dtype, 0), twice}) {
      for (const Scalar& two : {Scalar(2), Scalar(2.0)}) {
        const Tensor square = pow(sparse, two);
        CHECK(square.is_sparse());
        CHECK(equal(to_dense(square), pow(to_dense(sparse), two)));
      }
    }
  }
}

TEST_CASE("refusals of dtypes name the operator, and say the same for dense and sparse ones") {
  const Tensor integers = sparse_of(DType::I64, 0), bools = sparse_of(DType::Bool, 0);
  CHECK_THROWS_WITH(add(integers, integers, 0.5),
                    "add: for tensors of int64 alpha must not be a floating number, but it is 0.5");
  CHECK_THROWS_WITH(add_(dense_of(DType::I64, 0), integers, 0.5), Contains("add_: for tensors of int64 alpha"));
  CHECK_THROWS_WITH(sub(integers, integers, true),
                    "sub: for tensors of int64 alpha must be a number and not a bool, but it is true");
  CHECK_THROWS_WITH(add(dense_of(DType::F32, 0), dense_of(DType::F32, 1), true), Contains("must be a number"));
  CHECK_THROWS_WITH(sub(bools, bools), Contains("sub: bool tensors cannot be subtracted"));
  CHECK_THROWS_WITH(sub_(bools, bools), Contains("sub_: bool tensors cannot be subtracted"));
  CHECK_THROWS_WITH(neg(bools), Contains("neg: not for elements of bool"));
  CHECK_THROWS_WITH(sub(integers, sparse_coo(from_values<std::int64_t>({0}, {1, 1}), ones({1}), {4})),
                    Contains("sub: sizes must be the same"));
  CHECK_THROWS_WITH(add_(integers, sparse_of(DType::F64, 0)),
                    Contains("add_: result type float64 cannot be cast to the output's (sparse int64 [3])"));
  CHECK(integers.version() == 0);
  add_(integers, sparse_of(DType::I8, 0));
  mul_(sparse_of(DType::I16, 0), integers);
  CHECK(integers.dtype() == DType::I64);
}

}  // namespace distrun::tensor

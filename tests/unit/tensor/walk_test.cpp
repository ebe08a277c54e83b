// Elementwise operators on tensors with a different memory order than the result's, and sums of all shapes.
#include <catch2/catch.hpp>

#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {
namespace {

constexpr DType kAll[] = {DType::Bool, DType::U8,  DType::I8,  DType::I16,
                          DType::I32,  DType::I64, DType::F32, DType::F64};

// Returns numbers that all dtypes can represent, with period 61.
Tensor some_numbers(const Dims& sizes, DType dtype) {
  const std::int64_t count = device::count_of(sizes);
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i % 61);
  return to(from_values<std::int64_t>(numbers, sizes), dtype);
}

template <class Body>
void with_every_instruction_set(Body body) {
  for (const InstructionSet set : {InstructionSet::Plain, InstructionSet::Avx2, InstructionSet::Avx512}) {
    if (set > best_instruction_set()) continue;
    INFO(name_of(set));
    use_instruction_set(set);
    body();
  }
  use_instruction_set(best_instruction_set());
}

// Checks element by element, through views of one element.
void check_turned_copy(const Tensor& turned) {
  const Tensor copy = contiguous(turned);
  const auto elements = to_vector<double>(to(copy, DType::F64));
  std::size_t wrong = 0;
  for (std::int64_t i = 0; i < turned.size(0); ++i) {
    const auto row = to_vector<double>(to(select(turned, 0, i), DType::F64));
    for (std::size_t j = 0; j < row.size(); ++j)
      wrong += row[j] != elements[static_cast<std::size_t>(i) * row.size() + j];
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("copies of transposed tensors have each element in its place, for every dtype") {
  with_every_instruction_set([] {
    for (const DType dtype : kAll) {
      INFO(name_of(dtype));
      for (const Dims& sizes : {Dims{37, 150}, Dims{150, 37}, Dims{300, 131}, Dims{2, 1030}, Dims{1030, 3}}) {
        check_turned_copy(t(some_numbers(sizes, dtype)));
      }
      check_turned_copy(permute(some_numbers({5, 18, 40}, dtype), {0, 2, 1}));
      check_turned_copy(permute(some_numbers({40, 18, 5}, dtype), {2, 1, 0}));
    }
  });
}

TEST_CASE("operators with mixed dtypes and layouts give the same as with contiguous tensors") {
  with_every_instruction_set([] {
    for (const DType dtype : {DType::I16, DType::I32, DType::F32, DType::F64}) {
      INFO(name_of(dtype));
      const Tensor a = some_numbers({90, 140}, dtype), b = t(some_numbers({140, 90}, dtype));
      const Tensor row = some_numbers({140}, dtype), column = some_numbers({90, 1}, dtype);
      CHECK(equal(add(a, b), add(a, contiguous(b))));
      CHECK(equal(mul(b, b), mul(contiguous(b), contiguous(b))));
      CHECK(equal(lt(b, a), lt(contiguous(b), a)));
      CHECK(equal(add(b, row), add(contiguous(b), contiguous(expand(row, {90, 140})))));
      CHECK(equal(add(b, column), add(contiguous(b), contiguous(expand(column, {90, 140})))));
    }
  });
}

TEST_CASE("a short broadcast row is added to all rows, also in place and to slices") {
  with_every_instruction_set([] {
    for (const Dims& sizes : {Dims{700, 3}, Dims{5, 700}, Dims{2000, 1}, Dims{40, 511}, Dims{7, 300, 10}}) {
      INFO(to_string(sizes));
      const Tensor a = some_numbers(sizes, DType::F32), row = some_numbers({sizes.back()}, DType::F32);
      const Tensor expected = add(a, contiguous(expand(row, sizes)));
      CHECK(equal(add(a, row), expected));
      CHECK(equal(add(row, a), expected));
      const Tensor changed = clone(a);
      add_(changed, row);
      CHECK(equal(changed, expected));
      const Tensor part = narrow(a, 0, 1, sizes[0] - 2);
      CHECK(equal(add(part, row), narrow(expected, 0, 1, sizes[0] - 2)));
    }
  });
}

TEST_CASE("a broadcast column is added to rows of any length, also in place and to slices") {
  with_every_instruction_set([] {
    for (const Dims& sizes : {Dims{700, 1}, Dims{700, 3}, Dims{90, 10}, Dims{40, 511}, Dims{7, 300, 10}}) {
      INFO(to_string(sizes));
      Dims column_sizes = sizes;
      column_sizes[sizes.size() - 1] = 1;
      const Tensor a = some_numbers(sizes, DType::F32), column = some_numbers(column_sizes, DType::F32);
      const Tensor all = contiguous(expand(column, sizes)), expected = add(a, all);
      CHECK(equal(add(a, column), expected));
      CHECK(equal(add(column, a), expected));
      CHECK(equal(lt(a, column), lt(a, all)));
      CHECK(equal(where(lt(a, column), a, column), where(lt(a, all), a, all)));
      CHECK(equal(pow(a, column), pow(a, all)));
      const Tensor changed = clone(a);
      add_(changed, column);
      CHECK(equal(changed, expected));
      const Tensor part = narrow(a, -1, 0, (sizes.back() + 1) / 2);
      CHECK(equal(add(part, column), narrow(expected, -1, 0, (sizes.back() + 1) / 2)));
    }
  });
}

TEST_CASE("sums along and across lines of any length are exact if their numbers are, for every dtype") {
  with_every_instruction_set([] {
    for (const DType dtype : kAll) {
      for (const Dims& sizes : {Dims{3, 5}, Dims{600, 7}, Dims{1000, 63}, Dims{9, 31}, Dims{17, 33}, Dims{6, 8300},
                                Dims{2, 70000}, Dims{31, 2100}}) {
        INFO(name_of(dtype) << " " << to_string(sizes));
        const Tensor a = some_numbers(sizes, dtype);
        const auto numbers = to_vector<double>(to(a, DType::F64));
        std::vector<double> rows(static_cast<std::size_t>(sizes[0])), columns(static_cast<std::size_t>(sizes[1]));
        double total = 0;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          rows[i / columns.size()] += numbers[i];
          columns[i % columns.size()] += numbers[i];
          total += numbers[i];
        }
        CHECK(to_vector<double>(to(sum(a, {1}), DType::F64)) == rows);
        CHECK(to_vector<double>(to(sum(a, {0}), DType::F64)) == columns);
        CHECK(sum(a).item_as<double>() == total);
        CHECK(to_vector<double>(to(sum(t(a), {0}), DType::F64)) == rows);
        CHECK(to_vector<double>(to(sum(t(a), {1}), DType::F64)) == columns);
      }
    }
  });
}

TEST_CASE("sums of floating-point numbers have the same bits with every instruction set") {
  Generator generator(11);
  const Tensor a = randn({123, 457}, {}, generator);
  use_instruction_set(InstructionSet::Plain);
  const Tensor narrow_one = view(narrow(view(a, {123 * 457}), 0, 0, 5600), {800, 7});
  const Tensor rows = sum(a, {1}), columns = sum(a, {0}), few = sum(narrow_one, {0});
  const Tensor loss = mse_loss(a, mul(a, 0.5));
  with_every_instruction_set([&] {
    CHECK(equal(sum(a, {1}), rows));
    CHECK(equal(sum(a, {0}), columns));
    CHECK(equal(sum(narrow_one, {0}), few));
    CHECK(equal(mse_loss(a, mul(a, 0.5)), loss));
  });
}

}  // namespace distrun::tensor

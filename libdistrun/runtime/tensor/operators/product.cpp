#include <distrun/runtime/tensor/operators/product.hpp>

#include <algorithm>
#include <type_traits>

#include <distrun/runtime/tensor/core/parallel.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>

namespace distrun::tensor {
namespace {

// Up to this many multiplications loops are faster than Eigen.
constexpr double kSmall = 1500;

// Up to this many multiplications panels are faster: a and b stay in the cache.
constexpr double kTiled = 2.1e6;

double multiplications_of(const kernels::Product& p) noexcept {
  return static_cast<double>(p.rows) * static_cast<double>(p.inner) * static_cast<double>(p.columns);
}

constexpr std::int64_t kInner = 512;  // inner elements of panels at a time

// Returns whether whole tiles cover the product with little overlap; overlapping parts are computed twice.
bool is_tiled(const kernels::Product& p) noexcept {
  if (p.b_column != 1) return false;
  const std::int64_t rows = up_to(p.rows, kernels::kPanelRowsLeast), columns = up_to(p.columns, kernels::kPanelColumns);
  if (rows == p.rows && columns == p.columns) return true;
  constexpr double kMostWork = 1.1;  // relative to the needed work; with smaller vectors Eigen is as fast
  return instruction_set() == InstructionSet::Avx512 && p.columns >= kernels::kPanelColumns && p.inner <= kInner &&
         !p.accumulate &&
         static_cast<double>(rows) * static_cast<double>(columns) <=
             kMostWork * static_cast<double>(p.rows) * static_cast<double>(p.columns);
}

// Takes rows of a panel from `row` on; repeats the last row if there are too few.
template <class T>
void set_rows(const kernels::Product& p, std::int64_t row, std::int64_t inner, std::int64_t column,
              kernels::GatheredPanel& panel) {
  panel.rows = std::min(kernels::kPanelRows, p.rows - row);
  for (std::int64_t i = 0; i < kernels::kPanelRows; ++i) {
    const std::int64_t at = std::min(row + i, p.rows - 1);
    panel.a_rows[i] = static_cast<const T*>(p.a) + at * p.a_row + inner * p.a_column;
    panel.c_rows[i] = static_cast<T*>(p.c) + at * p.c_row + column;
  }
}

template <class T>
void multiply_tiled(const kernels::Product& p) {
  const auto multiply = kernels::table().panels->multiply_gathered[kernels::floating_place(dtype_of<T>)];
  kernels::Factors factors[kInner];
  for (std::int64_t k = 0; k < std::min(kInner, p.inner); ++k) factors[k] = {k * p.a_column, k * p.b_row};
  const std::int64_t whole = p.columns / kernels::kPanelColumns * kernels::kPanelColumns;
  kernels::GatheredPanel panel;
  panel.factors = factors;
  panel.accumulate = p.accumulate;
  for (std::int64_t first = 0; first < p.inner; first += kInner) {
    const T* const b = static_cast<const T*>(p.b) + first * p.b_row;
    panel.inner = std::min(kInner, p.inner - first);
    for (std::int64_t row = 0; row < p.rows; row += kernels::kPanelRows) {
      set_rows<T>(p, row, first, 0, panel);
      panel.b = b;
      panel.columns = whole;
      multiply(panel);
      if (whole == p.columns) continue;
      const std::int64_t last = p.columns - kernels::kPanelColumns;
      set_rows<T>(p, row, first, last, panel);
      panel.b = b + last;
      panel.columns = kernels::kPanelColumns;
      multiply(panel);
    }
    panel.accumulate = true;
  }
}

struct Strides {
  std::int64_t row, column;
};

// The stride of a single row or column is ignored and may be arbitrary, even too small for the kernels.
Strides matrix_strides(const StridedImpl& tensor) noexcept {
  const std::size_t last = tensor.sizes.size() - 1;
  const std::int64_t rows = tensor.sizes[last - 1], columns = tensor.sizes[last];
  Strides strides{tensor.strides[last - 1], tensor.strides[last]};
  if (rows == 1 && (columns == 1 || strides.column == 1)) return {columns, 1};
  if (columns == 1 && strides.row == 1) return {1, rows};
  if (columns == 1) strides.column = 1;
  if (rows == 1) strides.row = 1;
  return strides;
}

}  // namespace

bool is_multipliable(const StridedImpl& tensor) noexcept {
  if (tensor.contiguous) return true;
  const std::size_t last = tensor.sizes.size() - 1;
  const std::int64_t rows = tensor.sizes[last - 1], columns = tensor.sizes[last];
  const auto [row, column] = matrix_strides(tensor);
  return (column == 1 && row >= columns) || (row == 1 && column >= rows);
}

kernels::Multiply multiply_of(const char* op, DType dtype, const kernels::Product& product) {
  const kernels::Table& table = kernels::table();
  const double count = multiplications_of(product);
  const bool tiled = count <= kTiled && is_tiled(product);
  if (count > kSmall && dtype == DType::F32) return tiled ? &multiply_tiled<float> : table.multiply_f32;
  if (count > kSmall && dtype == DType::F64) return tiled ? &multiply_tiled<double> : table.multiply_f64;
  const kernels::Multiply multiply = table.loop_products->multiply[static_cast<int>(dtype)];
  if (multiply == nullptr) refuse(op, "not for elements of " + std::string(name_of(dtype)), {});
  return multiply;
}

std::int64_t products_each(const kernels::Product& product) noexcept {
  constexpr double kEach = 1e6;  // multiplications
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(kEach / std::max(1.0, multiplications_of(product))));
}

void multiply_rows(const kernels::Product& whole, kernels::Multiply multiply, DType dtype) {
  constexpr double kMuch = 4e6;            // multiplications
  constexpr std::int64_t kRowsEach = 128;  // larger blocks save nothing, smaller ones read b too often
  if (whole.rows < 2 * kRowsEach || multiplications_of(whole) < kMuch) return multiply(whole);
  const auto bytes = static_cast<std::int64_t>(size_of(dtype));
  parallel_for((whole.rows - 1) / kRowsEach + 1, 1, [&](std::int64_t block, std::int64_t end) {
    for (; block < end; ++block) {
      const std::int64_t first = block * kRowsEach;
      kernels::Product part = whole;
      part.rows = std::min(kRowsEach, whole.rows - first);
      part.a = static_cast<const std::byte*>(whole.a) + first * whole.a_row * bytes;
      part.c = static_cast<std::byte*>(whole.c) + first * whole.c_row * bytes;
      multiply(part);
    }
  });
}

kernels::Product product_of(const StridedImpl& a, const StridedImpl& b) noexcept {
  const std::size_t last_a = a.sizes.size() - 1, last_b = b.sizes.size() - 1;
  const Strides of_a = matrix_strides(a), of_b = matrix_strides(b);
  kernels::Product product;
  product.rows = a.sizes[last_a - 1];
  product.inner = a.sizes[last_a];
  product.columns = b.sizes[last_b];
  product.a_row = of_a.row;
  product.a_column = of_a.column;
  product.b_row = of_b.row;
  product.b_column = of_b.column;
  product.c_row = product.columns;
  return product;
}

}  // namespace distrun::tensor

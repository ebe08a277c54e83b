#include <distrun/runtime/tensor/operators/product.hpp>

#include <algorithm>

#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>

namespace distrun::tensor {
namespace {

// Up to so many multiplications loops are faster than Eigen.
constexpr double kSmall = 1500;

struct Strides {
  std::int64_t row, column;
};

// With one row or column its stride means nothing and may be anything, even too small for the kernels.
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
  const double count =
      static_cast<double>(product.rows) * static_cast<double>(product.inner) * static_cast<double>(product.columns);
  if (count > kSmall && dtype == DType::F32) return table.multiply_f32;
  if (count > kSmall && dtype == DType::F64) return table.multiply_f64;
  const kernels::Multiply multiply = table.loop_products->multiply[static_cast<int>(dtype)];
  if (multiply == nullptr) refuse(op, "not for elements of " + std::string(name_of(dtype)), {});
  return multiply;
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

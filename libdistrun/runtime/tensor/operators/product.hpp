#pragma once
// One matrix product as a kernel: where matmul, linear and convolutions meet the compiled ones.
#include <distrun/runtime/tensor/core/tensor.hpp>
#include <distrun/runtime/tensor/kernels/table.hpp>

namespace distrun::tensor {

// The next multiple: kernels make whole vectors and panels.
constexpr std::int64_t up_to(std::int64_t count, std::int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

// A matrix, or each of a batch, as a product takes it: rows or columns without gaps.
bool is_multipliable(const StridedImpl& tensor) noexcept;

// The kernel for products of that dtype and size. Throws Error{InvalidArgument} for bool.
kernels::Multiply multiply_of(const char* op, DType dtype, const kernels::Product& product);

// One product on several threads if it is large: in blocks of rows, whose size does not depend on how many threads
// there are.
void multiply_rows(const kernels::Product& whole, kernels::Multiply multiply, DType dtype);
// How many of a batch a thread is woken for.
std::int64_t products_each(const kernels::Product& product) noexcept;

// Sizes and strides of [..., rows, inner] times [..., inner, columns], both multipliable, into a contiguous C.
kernels::Product product_of(const StridedImpl& a, const StridedImpl& b) noexcept;

}  // namespace distrun::tensor

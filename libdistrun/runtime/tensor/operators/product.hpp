#pragma once
// One matrix product as a kernel: used by matmul, linear and convolutions to call the compiled kernels.
#include <distrun/runtime/tensor/core/tensor.hpp>
#include <distrun/runtime/tensor/kernels/table.hpp>

namespace distrun::tensor {

// Rounds up to a multiple: kernels compute whole vectors and panels.
constexpr std::int64_t up_to(std::int64_t count, std::int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

// Returns whether each matrix has contiguous rows or columns, as products require.
bool is_multipliable(const StridedImpl& tensor) noexcept;

// Returns the kernel for products of that dtype and size. Throws Error{InvalidArgument} for bool.
kernels::Multiply multiply_of(const char* op, DType dtype, const kernels::Product& product);

// Computes one product, on several threads if it is large: in blocks of rows whose size does not depend on the number
// of threads.
void multiply_rows(const kernels::Product& whole, kernels::Multiply multiply, DType dtype);
// Number of products of a batch that are worth waking a thread.
std::int64_t products_each(const kernels::Product& product) noexcept;

// Returns sizes and strides of [..., rows, inner] times [..., inner, columns], both multipliable, into a contiguous C.
kernels::Product product_of(const StridedImpl& a, const StridedImpl& b) noexcept;

}  // namespace distrun::tensor

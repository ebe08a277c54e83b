#pragma once
// One matrix product as a kernel: where matmul, linear and convolutions meet the compiled ones.
#include <distrun/runtime/tensor/core/tensor.hpp>
#include <distrun/runtime/tensor/kernels/table.hpp>

namespace distrun::tensor {

// A matrix, or each of a batch, as a product takes it: rows or columns without gaps.
bool is_multipliable(const StridedImpl& tensor) noexcept;

// The kernel for products of that dtype and size. Throws Error{InvalidArgument} for bool.
kernels::Multiply multiply_of(const char* op, DType dtype, const kernels::Product& product);

// Sizes and strides of [..., rows, inner] times [..., inner, columns], both multipliable, into a contiguous C.
kernels::Product product_of(const StridedImpl& a, const StridedImpl& b) noexcept;

}  // namespace distrun::tensor

#pragma once
// Checks of sizes and dtypes for operators. Each error names the operator, the sizes and the dtypes (refuse(),
// tensor.hpp).
#include <initializer_list>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// Throws for an index outside of -size .. size - 1 of that dimension.
[[noreturn]] void refuse_index(const char* op, std::int64_t index, std::size_t dim, const Tensor& tensor);
// Returns the common sizes: sizes from the last on are equal, or one of them is 1. Throws Error{InvalidArgument}.
Dims broadcast(const char* op, const Tensor& a, const Tensor& b);
// Adds two non-negative sizes. Throws Error{InvalidArgument} if the sum exceeds an std::int64_t.
std::int64_t sum_of_sizes(const char* op, std::int64_t a, std::int64_t b);
// Returns whether `from` can be expanded to `to`.
bool is_expandable(const Dims& from, const Dims& to) noexcept;

void check_defined(const char* op, std::initializer_list<const Tensor*> tensors);
void check_same_device(const char* op, std::initializer_list<const Tensor*> tensors);
void check_same_dtype(const char* op, const Tensor& a, const Tensor& b);
// Checks that the number fits the dtype: its whole part into integers, its magnitude into floating types.
void check_fits(const char* op, const Scalar& number, DType dtype);
void check_floating(const char* op, const Tensor& tensor);
void check_dense(const char* op, std::initializer_list<const Tensor*> tensors);
// Checks a gradient against its tensor: same sizes, dtype and device.
void check_like(const char* op, const Tensor& gradient, const Tensor& tensor);
void check_rank(const char* op, const Tensor& tensor, std::size_t rank);

}  // namespace distrun::tensor

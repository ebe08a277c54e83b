#pragma once
// What operators ask of sizes and dtypes. Each refusal names the operator, the sizes and the dtypes (refuse(),
// tensor.hpp).
#include <initializer_list>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// For an index that is not -size .. size - 1 of that dimension.
[[noreturn]] void refuse_index(const char* op, std::int64_t index, std::size_t dim, const Tensor& tensor);
// What both stretch to: sizes from the last on are equal, or one of them is 1. Throws Error{InvalidArgument}.
Dims broadcast(const char* op, const Tensor& a, const Tensor& b);
// Of sizes, neither below 0. Throws Error{InvalidArgument} if their sum is more than an std::int64_t can count.
std::int64_t sum_of_sizes(const char* op, std::int64_t a, std::int64_t b);
// True if the first stretches to the second.
bool is_expandable(const Dims& from, const Dims& to) noexcept;

void check_defined(const char* op, std::initializer_list<const Tensor*> tensors);
void check_same_device(const char* op, std::initializer_list<const Tensor*> tensors);
void check_same_dtype(const char* op, const Tensor& a, const Tensor& b);
// The number becomes an element: a whole part that the integers hold, or nothing larger than the floating ones.
void check_fits(const char* op, const Scalar& number, DType dtype);
void check_floating(const char* op, const Tensor& tensor);
void check_dense(const char* op, std::initializer_list<const Tensor*> tensors);
// A gradient of it: same sizes, dtype and device.
void check_like(const char* op, const Tensor& gradient, const Tensor& tensor);
void check_rank(const char* op, const Tensor& tensor, std::size_t rank);

}  // namespace distrun::tensor

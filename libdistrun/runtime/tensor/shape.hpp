#pragma once
// What operators ask of sizes, and the words in which they refuse: each names the operator, the sizes and the dtypes.
#include <initializer_list>
#include <string>

#include <distrun/runtime/tensor/tensor.hpp>

namespace distrun::tensor {

// Error{InvalidArgument}: "op: what (float32 [2, 3] and int64 [4])".
[[noreturn]] void refuse(const char* op, const std::string& what, std::initializer_list<const Tensor*> tensors);

// 0 .. rank - 1 from -rank .. rank - 1. A tensor without dimensions has one for this. Throws Error{InvalidArgument}.
std::size_t wrap_dim(const char* op, std::int64_t dim, std::size_t rank);
// For an index that is not -size .. size - 1 of that dimension.
[[noreturn]] void refuse_index(const char* op, std::int64_t index, std::size_t dim, const Tensor& tensor);
// What both stretch to: sizes from the last on are equal, or one of them is 1. Throws Error{InvalidArgument}.
Dims broadcast(const char* op, const Tensor& a, const Tensor& b);
// True if the first stretches to the second.
bool is_expandable(const Dims& from, const Dims& to) noexcept;

void check_defined(const char* op, std::initializer_list<const Tensor*> tensors);
void check_same_device(const char* op, std::initializer_list<const Tensor*> tensors);
void check_same_dtype(const char* op, const Tensor& a, const Tensor& b);
// The number becomes an element: a whole part that the integers hold, or nothing larger than the floating ones.
void check_fits(const char* op, const Scalar& number, DType dtype);
void check_floating(const char* op, const Tensor& tensor);
void check_dense(const char* op, std::initializer_list<const Tensor*> tensors);
void check_rank(const char* op, const Tensor& tensor, std::size_t rank);

// The elements that a strided block touches, from the first to the last; not valid when they are beyond any memory.
struct Reach {
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool is_valid = true;
};
Reach reach_of(const Dims& sizes, const Dims& strides, std::int64_t offset) noexcept;

}  // namespace distrun::tensor

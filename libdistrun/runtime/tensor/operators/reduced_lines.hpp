#pragma once
// The input of a reduction: a contiguous tensor; each of its lines becomes one element.
#include <vector>

#include <distrun/runtime/tensor/operators/around.hpp>

namespace distrun::tensor {

struct ReducedLines {
  Tensor tensor;  // contiguous; the input itself if the dimensions lie next to each other
  Around lines;
  Dims sizes;  // of the result, in the order of the lines
};

// The dtype of sums and products: integers give int64.
constexpr DType total_type(DType dtype) noexcept { return is_floating(dtype) ? dtype : DType::I64; }

// Returns which dimensions are reduced; an empty list means all. Throws Error{InvalidArgument} for a dimension that is
// out of range or listed twice.
std::vector<bool> reduced_dims(const char* op, const Tensor& tensor, const Dims& dims);
Dims sizes_without(const Dims& sizes, const std::vector<bool>& is_reduced, bool keep_dims);
// Also checks that the tensor is dense.
ReducedLines reduced_lines(const char* op, const Tensor& tensor, const Dims& dims, bool keep_dims);

}  // namespace distrun::tensor

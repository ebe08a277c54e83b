#pragma once
// What a reduction goes over: a contiguous tensor whose lines become one element each.
#include <vector>

#include <distrun/runtime/tensor/operators/around.hpp>

namespace distrun::tensor {

struct ReducedLines {
  Tensor tensor;  // contiguous; the input itself if the dimensions lie next to each other
  Around lines;
  Dims sizes;  // of the result, in which the lines have their order
};

// Of sums and products: those of integers are int64.
constexpr DType total_type(DType dtype) noexcept { return is_floating(dtype) ? dtype : DType::I64; }

// Which dimensions are meant; none means all. Throws Error{InvalidArgument} for what is no dimension, or twice the
// same.
std::vector<bool> reduced_dims(const char* op, const Tensor& tensor, const Dims& dims);
Dims sizes_without(const Dims& sizes, const std::vector<bool>& is_reduced, bool keep_dims);
// Checks the tensor, too: a dense one.
ReducedLines reduced_lines(const char* op, const Tensor& tensor, const Dims& dims, bool keep_dims);

}  // namespace distrun::tensor

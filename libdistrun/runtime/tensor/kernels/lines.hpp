#pragma once
// Kernels over lines: the elements along one dimension of a contiguous tensor. Sums are computed in double and in the
// same order on all machines, like those of table.hpp.
#include <cstdint>

#include <distrun/runtime/tensor/core/dtype.hpp>

namespace distrun::tensor::kernels {

// Element i of the line between `before` and `after` is (before * size + i) * inner + after.
struct Lines {
  std::int64_t outer = 1, size = 1, inner = 1;
};

// Normalizes `count` rows of `size` elements, each with its mean and inverse deviation. Weight and bias are rows, or
// null for 1 and 0. Everything but the moments and sums has the elements' type.
struct RowNormalization {
  std::int64_t count = 0, size = 0;
  double epsilon = 0;
  const void *input = nullptr, *weight = nullptr, *bias = nullptr;
  void *out = nullptr, *mean = nullptr, *inverse = nullptr;
};

// The gradient. Adds sums over the rows, for some of the columns, to of_weight and of_bias. The input's gradient, or
// both sums, may be null.
struct RowNormalizationGradient {
  std::int64_t count = 0, size = 0;
  std::int64_t first_column = 0, columns = 0;
  const void *gradient = nullptr, *input = nullptr, *mean = nullptr, *inverse = nullptr, *weight = nullptr;
  void* of_input = nullptr;
  double *of_weight = nullptr, *of_bias = nullptr;
};

// Input and output are disjoint or identical.
using OverLines = void (*)(const void* in, void* out, const Lines& lines);
// Computes a gradient from the results.
using OverLinesBack = void (*)(const void* gradient, const void* result, void* out, const Lines& lines);

// Each array has one kernel for float and one for double.
struct SoftmaxKernels {
  OverLines softmax[2];
  OverLines log_softmax[2];
  OverLinesBack softmax_gradient[2];
  OverLinesBack log_softmax_gradient[2];
  // Computes e^in times the line's factor, a double per line.
  void (*scaled_powers[2])(const void* in, const double* factors, void* out, const Lines& lines);
};
// Finds the largest or smallest element of each line and its index in the line: the first of several; NaN wins. Either
// result may be null.
using ExtremesOfLines = void (*)(const void* in, void* values, std::int64_t* places, const Lines& lines);
struct ExtremeKernels {
  ExtremesOfLines largest[kDTypeCount];
  ExtremesOfLines smallest[kDTypeCount];
  // Returns whether all are 0 .. size - 1.
  bool (*are_in_range)(const std::int64_t* numbers, std::int64_t count, std::int64_t size);
};

// Computes sums[line] += the square, or the absolute value, of each element.
using AddLines = void (*)(const void* in, double* sums, const Lines& lines);

struct RowKernels {
  void (*normalize_rows[2])(const RowNormalization& rows);
  void (*normalize_rows_gradient[2])(const RowNormalizationGradient& rows);
  AddLines add_squares[2];
  AddLines add_sizes[2];
};

}  // namespace distrun::tensor::kernels

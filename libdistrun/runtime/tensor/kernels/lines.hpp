#pragma once
// Kernels that go over lines: the elements along one dimension of a contiguous tensor. Sums are made in double and in
// one order on all machines, as those of table.hpp.
#include <cstdint>

#include <distrun/runtime/tensor/core/dtype.hpp>

namespace distrun::tensor::kernels {

// Element i of the line between `before` and `after` is (before * size + i) * inner + after.
struct Lines {
  std::int64_t outer = 1, size = 1, inner = 1;
};

// `count` rows of `size` elements, each with a mean and an inverse deviation of its own. Weight and bias are rows, or
// null for 1 and 0. Everything but the moments and sums is of the elements' type.
struct RowNormalization {
  std::int64_t count = 0, size = 0;
  double epsilon = 0;
  const void *input = nullptr, *weight = nullptr, *bias = nullptr;
  void *out = nullptr, *mean = nullptr, *inverse = nullptr;
};

// Of the same. Sums over the rows are added to, those of some of the columns. The input's gradient, or both sums, may
// be null.
struct RowNormalizationGradient {
  std::int64_t count = 0, size = 0;
  std::int64_t first_column = 0, columns = 0;
  const void *gradient = nullptr, *input = nullptr, *mean = nullptr, *inverse = nullptr, *weight = nullptr;
  void* of_input = nullptr;
  double *of_weight = nullptr, *of_bias = nullptr;
};

// Input and output are apart, or the same.
using OverLines = void (*)(const void* in, void* out, const Lines& lines);
// From a gradient and the results.
using OverLinesBack = void (*)(const void* gradient, const void* result, void* out, const Lines& lines);

// One for float and one for double.
struct SoftmaxKernels {
  OverLines softmax[2];
  OverLines log_softmax[2];
  OverLinesBack softmax_gradient[2];
  OverLinesBack log_softmax_gradient[2];
  // e^in times the factor of its line, a double for each.
  void (*scaled_powers[2])(const void* in, const double* factors, void* out, const Lines& lines);
};
// The largest or smallest of each line and its place there, the first of several; what is no number wins. Either result
// may be null.
using ExtremesOfLines = void (*)(const void* in, void* values, std::int64_t* places, const Lines& lines);
struct ExtremeKernels {
  ExtremesOfLines largest[kDTypeCount];
  ExtremesOfLines smallest[kDTypeCount];
  // Whether all are 0 .. size - 1.
  bool (*are_in_range)(const std::int64_t* numbers, std::int64_t count, std::int64_t size);
};

// sums[line] += the square, or the size, of each element.
using AddLines = void (*)(const void* in, double* sums, const Lines& lines);

struct RowKernels {
  void (*normalize_rows[2])(const RowNormalization& rows);
  void (*normalize_rows_gradient[2])(const RowNormalizationGradient& rows);
  AddLines add_squares[2];
  AddLines add_sizes[2];
};

}  // namespace distrun::tensor::kernels

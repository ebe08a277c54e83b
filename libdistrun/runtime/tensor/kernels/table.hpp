#pragma once
// The innermost loops, compiled once for each instruction set (the files *_kernels.cpp are built several times) and
// chosen at run time (instruction_set.hpp).
//
// Those files include no header whose inline functions could be left over as weak symbols: the linker keeps one copy of
// such a function for the whole program, and it might be the one that only a newer machine can run.
#include <cstddef>
#include <cstdint>

#include <distrun/runtime/tensor/core/dtype.hpp>

namespace distrun::tensor::kernels {

// `count` elements at data[k] + i * strides[k]; data[0] is written. The output may be the very same run as an input,
// and must not overlap one otherwise. `parameter` points to a constant of the operator, in the inputs' dtype.
using Run = void (*)(std::byte* const* data, const std::int64_t* strides, std::int64_t count, const void* parameter);

// Results are of the input's dtype.
enum class Unary : std::uint8_t {
  Neg,
  Cos,
  Sin,
  Sigmoid,
  ClampMin,  // the parameter is the least value
  ClampMax,  // the parameter is the largest value
  Sqrt,
  Rsqrt,
  Exp,
  Log,
  Tanh,
  Abs,
  Cube,
};
inline constexpr int kUnaryCount = 13;
enum class Binary : std::uint8_t {
  Add,  // a + parameter * b
  Mul,
  Div,
  SigmoidBackward,    // gradient, result
  ThresholdBackward,  // gradient, input: the gradient where the input is over the parameter
  ClampMinBackward,   // gradient, input: the gradient where the input is no less than the parameter
  ClampMaxBackward,   // gradient, input: the gradient where the input is no more than the parameter
  TanhBackward,       // gradient, result
  AbsBackward,        // gradient, input: the gradient with the input's sign, 0 where that is 0
  Maximum,
  Minimum,
  Pow,
};
inline constexpr int kBinaryCount = 12;
// Results are bool.
enum class Comparison : std::uint8_t { Eq, Ne, Lt, Le, Gt, Ge };
inline constexpr int kComparisonCount = 6;

// Of three inputs. Results are of the dtype of the last two; a condition is bool.
enum class Choice : std::uint8_t {
  Where,            // condition, a, b
  Dropout,          // condition, a, factor: a * factor where it is true, else a * 0
  Clamp,            // a, least, largest
  MaximumBackward,  // gradient, a, b: the gradient where a is the larger, half of it where they are equal
  MinimumBackward,  // gradient, a, b: the same where a is the smaller
};
inline constexpr int kChoiceCount = 5;

// Sums are made in double for floating dtypes, in std::int64_t (which wraps) for the others, and in one order on all
// machines, so that a sum is the same number everywhere. They are added to what is there already, one for each line of
// the block, or one for each place in its lines.
struct SumBlock {
  const std::byte* data = nullptr;
  std::int64_t lines = 0, line_stride = 0;  // strides in bytes
  std::int64_t count = 0, stride = 0;       // of a line's elements
};
using AddSums = void (*)(const SumBlock& block, void* sums);

// C = A B, or C += A B, of row-major or column-major blocks. Strides in elements; one of each pair is 1.
struct Product {
  std::int64_t rows = 0, columns = 0, inner = 0;
  const void* a = nullptr;
  std::int64_t a_row = 0, a_column = 0;
  const void* b = nullptr;
  std::int64_t b_row = 0, b_column = 0;
  void* c = nullptr;
  std::int64_t c_row = 0;  // row-major
  bool accumulate = false;
};
using Multiply = void (*)(const Product& product);

// A null entry: not for that dtype.
struct UnaryKernels {
  Run run[kUnaryCount][kDTypeCount];
};
struct BinaryKernels {
  Run run[kBinaryCount][kDTypeCount];
  Run compare[kComparisonCount][kDTypeCount];
};
struct ChoiceKernels {
  Run run[kChoiceCount][kDTypeCount];
};
// A matrix whose columns lie along memory. Strides in bytes.
struct Turned {
  const std::byte* data = nullptr;
  std::int64_t rows = 0, row_stride = 0;
  std::int64_t columns = 0, column_stride = 0;
};

struct CopyKernels {
  Run convert[kDTypeCount][kDTypeCount];  // from, to
  Run fill[kDTypeCount];                  // with the parameter
  // Copies it so that rows are packed, and begin `out_stride` bytes from each other.
  void (*turn[kDTypeCount])(const Turned& matrix, std::byte* out, std::int64_t out_stride);
};
struct SumKernels {
  AddSums along_lines[kDTypeCount];
  AddSums across_lines[kDTypeCount];
  // Adds the sum of (a - b)^2 of packed elements to the total; for float and double.
  void (*square_differences[2])(const void* a, const void* b, std::int64_t count, double* total);
};

// `count` random numbers from block `first` of the sequence `key`, of which each block makes 16 bytes: uniform ones
// from 0 up to but not 1, and normal ones.
struct RandomKernels {
  void (*uniform_f32)(std::uint64_t key, std::uint64_t first, float* out, std::int64_t count);
  void (*uniform_f64)(std::uint64_t key, std::uint64_t first, double* out, std::int64_t count);
  void (*normal_f32)(std::uint64_t key, std::uint64_t first, float* out, std::int64_t count);
};

// A panel of C = A B + plus: kPanelRows rows of C, to each of which a number is added. A is packed, one of its columns
// after the other; row k of B begins b_rows[k] elements behind b, and may overlap others. C's columns are made line by
// line. Distances are in elements.
inline constexpr std::int64_t kPanelRows = 8, kPanelColumns = 8;
struct Panel {
  const void* plus = nullptr;
  const void *a = nullptr, *b = nullptr;
  const std::int64_t* b_rows = nullptr;
  std::int64_t inner = 0;
  void* c = nullptr;
  std::int64_t c_row = 0;
  std::int64_t columns = 0, lines = 1;  // of each line, a multiple of kPanelColumns
  std::int64_t b_line = 0, c_line = 0;
};
// A panel of C += A B: kPanelRows rows, whose elements of A lie where they are, line by line: row i begins a_rows[i]
// elements behind a, and B has a row for each of them, one after the other.
struct LinesPanel {
  const void* a = nullptr;
  std::int64_t a_rows[kPanelRows] = {};
  std::int64_t lines = 0, a_line = 0, count = 0;  // `count` elements each, from line to line in elements
  const void* b = nullptr;
  std::int64_t columns = 0;  // of B and C, packed; a multiple of kPanelColumns
  void* c = nullptr;
};
// Of float and double.
struct PanelKernels {
  void (*multiply[2])(const Panel& panel);
  void (*add_lines[2])(const LinesPanel& panel);
};

// Not for bool.
struct LoopProducts {
  Multiply multiply[kDTypeCount];
};

struct SoftmaxKernels;  // lines.hpp
struct RowKernels;
struct ChannelKernels;  // channels.hpp
struct ExtremeKernels;

struct Table {
  const UnaryKernels* unary;
  const BinaryKernels* binary;
  const ChoiceKernels* choice;
  const CopyKernels* copy;
  const SumKernels* sums;
  const RandomKernels* random;
  const LoopProducts* loop_products;
  const PanelKernels* panels;
  const SoftmaxKernels* softmax;
  const RowKernels* rows;
  const ChannelKernels* channels;
  const ExtremeKernels* extremes;
  Multiply multiply_f32, multiply_f64;  // Eigen's
};

}  // namespace distrun::tensor::kernels

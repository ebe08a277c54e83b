#pragma once
// The innermost loops, compiled once for each instruction set (the files *_kernels.cpp are built several times) and
// selected at run time (instruction_set.hpp).
//
// Those files include no header with inline functions that could become weak symbols: the linker keeps one copy of such
// a function for the whole program, and it might be one that only a newer machine can run.
#include <cstddef>
#include <cstdint>

#include <distrun/runtime/tensor/core/dtype.hpp>

namespace distrun::tensor::kernels {

// Steps through several blocks: `count` elements, strides[k] bytes apart in block k.
struct Steps {
  const std::int64_t* strides = nullptr;  // ignored if count is 1
  std::int64_t count = 1;
};
// Processes runs of elements: element i of run r is at data[k] + r * down.strides[k] + i * along.strides[k]; data[0] is
// written. The output may be identical to an input, but must not overlap one otherwise. `parameter` points to a
// constant of the operator, in the inputs' dtype.
using Run = void (*)(std::byte* const* data, Steps along, Steps down, const void* parameter);

// Results have the input's dtype.
enum class Unary : std::uint8_t {
  Neg,
  Cos,
  Sin,
  Sigmoid,
  ClampMin,  // the parameter is the lower bound
  ClampMax,  // the parameter is the upper bound
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
  ThresholdBackward,  // gradient, input: the gradient where the input exceeds the parameter
  ClampMinBackward,   // gradient, input: the gradient where the input is at least the parameter
  ClampMaxBackward,   // gradient, input: the gradient where the input is at most the parameter
  TanhBackward,       // gradient, result
  AbsBackward,        // gradient, input: the gradient with the input's sign, 0 where the input is 0
  Maximum,
  Minimum,
  Pow,
};
inline constexpr int kBinaryCount = 12;
// Results are bool.
enum class Comparison : std::uint8_t { Eq, Ne, Lt, Le, Gt, Ge };
inline constexpr int kComparisonCount = 6;

// Operators with three inputs. Results have the dtype of the last two; a condition is bool.
enum class Choice : std::uint8_t {
  Where,            // condition, a, b
  Dropout,          // condition, a, factor: a * factor where it is true, otherwise a * 0
  Clamp,            // a, least, largest
  MaximumBackward,  // gradient, a, b: the gradient where a is larger, half of it where they are equal
  MinimumBackward,  // gradient, a, b: the same where a is smaller
};
inline constexpr int kChoiceCount = 5;

// Sums are computed in double for floating dtypes and in std::int64_t (which wraps) for others, in the same order on
// all machines, so that a sum is the same number everywhere. They are added to existing totals: one per line of the
// block, or one per index within its lines.
struct SumBlock {
  const std::byte* data = nullptr;
  std::int64_t lines = 0, line_stride = 0;  // strides in bytes
  std::int64_t count = 0, stride = 0;       // of a line's elements, in bytes
};
using AddSums = void (*)(const SumBlock& block, void* sums);
// Lines with fewer elements may be combined into longer ones. So a caller that sums across them must not split them, or
// the order of the sums would change.
inline constexpr std::int64_t kShortLine = 64;

// C = A B, or C += A B, for row-major or column-major blocks. Strides in elements; one of each pair is 1.
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

// Index into tables with an entry for float and one for double.
constexpr std::size_t floating_place(DType dtype) noexcept { return dtype == DType::F32 ? 0 : 1; }

// A null entry means that the dtype is not supported.
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
// A matrix with contiguous columns. Strides in bytes.
struct Turned {
  const std::byte* data = nullptr;
  std::int64_t rows = 0, row_stride = 0;
  std::int64_t columns = 0, column_stride = 0;
  const std::byte* next = nullptr;  // the matrix that is transposed next, for prefetching; may be null
};

struct CopyKernels {
  Run convert[kDTypeCount][kDTypeCount];  // from, to
  Run fill[kDTypeCount];                  // fills with the parameter
  // Transposes it into contiguous rows that are `out_stride` bytes apart.
  void (*turn[kDTypeCount])(const Turned& matrix, std::byte* out, std::int64_t out_stride);
};
struct SumKernels {
  AddSums along_lines[kDTypeCount];
  AddSums across_lines[kDTypeCount];
  void (*to_float)(const double* sums, float* out, std::int64_t count);
  // Adds the sum of (a - b)^2 of contiguous elements to the total; for float and double.
  void (*square_differences[2])(const void* a, const void* b, std::int64_t count, double* total);
};

// Generates `count` random numbers from block `first` of the sequence `key`, 16 bytes per block: uniform in [0, 1),
// normal, or raw bits.
struct RandomKernels {
  void (*words)(std::uint64_t key, std::uint64_t first, std::uint64_t* out, std::int64_t count);
  void (*uniform_f32)(std::uint64_t key, std::uint64_t first, float* out, std::int64_t count);
  void (*uniform_f64)(std::uint64_t key, std::uint64_t first, double* out, std::int64_t count);
  void (*normal_f32)(std::uint64_t key, std::uint64_t first, float* out, std::int64_t count);
};

// A panel of C = A B + plus: kPanelRows rows of C, with a number added to each. A is contiguous, column by column; row
// k of B starts b_rows[k] elements after b, and may overlap others. C's columns are computed line by line. Distances
// are in elements.
inline constexpr std::int64_t kPanelRows = 8, kPanelColumns = 8;
struct Panel {
  const void* plus = nullptr;
  const void *a = nullptr, *b = nullptr;
  const std::int64_t* b_rows = nullptr;
  std::int64_t inner = 0;
  void* c = nullptr;
  std::int64_t c_row = 0;
  std::int64_t columns = 0, lines = 1;  // per line, a multiple of kPanelColumns
  std::int64_t b_line = 0, c_line = 0;
};
// A panel of C = A B, added to C if wanted: kPanelRows rows, with the elements of A in place. Rows of A may be
// identical. Distances are in elements.
struct Factors {
  std::int64_t a, b;  // a column of A, from each row's begin, and its row of B
};
inline constexpr std::int64_t kPanelRowsLeast = 4;
struct GatheredPanel {
  std::int64_t rows = kPanelRows;  // needed rows: up to kPanelRowsLeast that many are computed, otherwise all
  const void* a_rows[kPanelRows] = {};
  const void* b = nullptr;
  const Factors* factors = nullptr;
  std::int64_t inner = 0;  // number of factors, 1 or more
  void* c_rows[kPanelRows] = {};
  std::int64_t columns = 0;  // a multiple of kPanelColumns
  bool accumulate = false;   // adds to C
};
// Kernels for float and double.
struct PanelKernels {
  void (*multiply[2])(const Panel& panel);
  void (*multiply_gathered[2])(const GatheredPanel& panel);
  // Copies `count` elements that are `step` elements apart into contiguous memory.
  void (*take_each[2])(const void* elements, std::int64_t step, std::int64_t count, void* out);
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

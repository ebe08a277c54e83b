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

// `count` places in each of several blocks; from one to the next it is strides[k] bytes in block k.
struct Steps {
  const std::int64_t* strides = nullptr;  // not looked at for one place
  std::int64_t count = 1;
};
// Runs of elements: element i of run r is at data[k] + r * down.strides[k] + i * along.strides[k]; data[0] is written.
// The output may be the very same elements as an input, and must not overlap one otherwise. `parameter` points to a
// constant of the operator, in the inputs' dtype.
using Run = void (*)(std::byte* const* data, Steps along, Steps down, const void* parameter);

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
// Lines of fewer elements may be taken as longer ones of several. So whoever sums across them must not split them, or
// the sums would be made in another order.
inline constexpr std::int64_t kShortLine = 64;

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

// Of tables that have an entry for float and one for double.
constexpr std::size_t floating_place(DType dtype) noexcept { return dtype == DType::F32 ? 0 : 1; }

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
  const std::byte* next = nullptr;  // what is turned after it, for the cache; null for nothing
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
  void (*to_float)(const double* sums, float* out, std::int64_t count);
  // Adds the sum of (a - b)^2 of packed elements to the total; for float and double.
  void (*square_differences[2])(const void* a, const void* b, std::int64_t count, double* total);
};

// `count` random numbers from block `first` of the sequence `key`, of which each block makes 16 bytes: uniform ones
// from 0 up to but not 1, and normal ones; or the bits as they are.
struct RandomKernels {
  void (*words)(std::uint64_t key, std::uint64_t first, std::uint64_t* out, std::int64_t count);
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
// A panel of C = A B, to whose rows another is added or what they have been: kPanelRows rows, whose elements of A lie
// where they are. Rows of A may be one and the same. Distances are in elements.
struct Factors {
  std::int64_t a, b;  // a column of A, from where each row begins, and the row of B that it is multiplied with
};
inline constexpr std::int64_t kPanelRowsLeast = 4;
struct GatheredPanel {
  std::int64_t rows = kPanelRows;  // that are needed: up to kPanelRowsLeast as many are made, else all
  const void* a_rows[kPanelRows] = {};
  const void* b = nullptr;
  const Factors* factors = nullptr;
  std::int64_t inner = 0;  // how many there are, 1 or more
  void* c_rows[kPanelRows] = {};
  std::int64_t columns = 0;    // a multiple of kPanelColumns
  const void* plus = nullptr;  // as many, or null
  bool accumulate = false;     // to C, and `plus` is not looked at
};
// Of float and double.
struct PanelKernels {
  void (*multiply[2])(const Panel& panel);
  void (*multiply_gathered[2])(const GatheredPanel& panel);
  // Makes `count` elements lie side by side, of which each is `step` elements behind the one before.
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

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
enum class Unary : std::uint8_t { Neg, Cos, Sin, Sigmoid, ClampMin, Sqrt };  // ClampMin: the least value
inline constexpr int kUnaryCount = 6;
enum class Binary : std::uint8_t {
  Add,  // a + parameter * b
  Mul,
  Div,
  SigmoidBackward,    // gradient, result
  ThresholdBackward,  // gradient, input: the gradient where the input is over the parameter
  ClampMinBackward,   // gradient, input: the gradient where the input is no less than the parameter
  Maximum,
};
inline constexpr int kBinaryCount = 7;
// Results are bool.
enum class Comparison : std::uint8_t { Eq, Ne, Lt, Le, Gt, Ge };
inline constexpr int kComparisonCount = 6;

// Sums are made in these: double for floating dtypes, std::int64_t (which wraps) for the others. In one order on all
// machines, so that a sum is the same number everywhere.
using Total = void (*)(const std::byte* data, std::int64_t stride, std::int64_t count, void* total);    // total += all
using Gather = void (*)(const std::byte* data, std::int64_t stride, std::int64_t count, void* totals);  // totals[i] +=

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

// Two uniform numbers from 0 up to but not 1 become two normal ones, pair by pair.
using Normal = void (*)(float* pairs, std::int64_t count);

// A null entry: not for that dtype.
struct UnaryKernels {
  Run run[kUnaryCount][kDTypeCount];
  Normal normal;
};
struct BinaryKernels {
  Run run[kBinaryCount][kDTypeCount];
  Run compare[kComparisonCount][kDTypeCount];
};
struct CopyKernels {
  Run convert[kDTypeCount][kDTypeCount];  // from, to
  Run fill[kDTypeCount];                  // with the parameter
};
struct SumKernels {
  Total total[kDTypeCount];
  Gather gather[kDTypeCount];
};

// Not for bool.
struct LoopProducts {
  Multiply multiply[kDTypeCount];
};

struct Table {
  const UnaryKernels* unary;
  const BinaryKernels* binary;
  const CopyKernels* copy;
  const SumKernels* sums;
  const LoopProducts* loop_products;
  Multiply multiply_f32, multiply_f64;  // Eigen's
};

}  // namespace distrun::tensor::kernels

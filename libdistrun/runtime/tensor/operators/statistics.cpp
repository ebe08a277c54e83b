#include <distrun/runtime/tensor/operators/statistics.hpp>

#include <algorithm>
#include <cmath>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/kernels/line_sums.hpp>
#include <distrun/runtime/tensor/operators/choices.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/extremes.hpp>
#include <distrun/runtime/tensor/operators/reduce.hpp>
#include <distrun/runtime/tensor/operators/reduced_lines.hpp>

namespace distrun::tensor::plain {
namespace {

// Computes sums[line] += value(x, line) over all elements, in memory order: rows in lanes, or columns side by side.
template <class T, class Value>
void add_lines(const T* in, const Around& lines, double* sums, const Value& value) {
  if (lines.inner == 1) {
    for (std::int64_t row = 0; row < lines.outer; ++row, in += lines.size) {
      sums[row] +=
          kernels::sum_of_values(lines.size, [&](std::int64_t i) { return value(static_cast<double>(in[i]), row); });
    }
    return;
  }
  for (std::int64_t before = 0; before < lines.outer; ++before) {
    for (std::int64_t i = 0; i < lines.size; ++i, in += lines.inner) {
      const std::int64_t line = before * lines.inner;
      for (std::int64_t after = 0; after < lines.inner; ++after) {
        sums[line + after] += value(static_cast<double>(in[after]), line + after);
      }
    }
  }
}

ReducedLines floating_lines(const char* op, const Tensor& tensor, const Dims& dims, bool keep_dims) {
  check_defined(op, {&tensor});
  check_floating(op, tensor);
  return reduced_lines(op, tensor, dims, keep_dims);
}

TensorOptions in_double(const Tensor& tensor) { return {DType::F64, tensor.device()}; }

Tensor plain_sums(const char* op, const ReducedLines& reduced) {
  const Tensor sums = zeros(reduced.sizes, in_double(reduced.tensor));
  if (sums.numel() == 0 || reduced.tensor.numel() == 0) return sums;
  with_floating(reduced.tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch(op, std::array{updates(sums), reads(reduced.tensor)}, [lines = reduced.lines](Addresses data) {
      add_lines(as<T>(data[1]), lines, as_mutable<double>(data[0]), [](double x, std::int64_t) { return x; });
    });
  });
  return sums;
}

// Sums the squared distances from the means, one mean per line.
Tensor sums_of_squares(const char* op, const ReducedLines& reduced, const Tensor& means) {
  const Tensor sums = zeros(reduced.sizes, in_double(reduced.tensor));
  if (sums.numel() == 0 || reduced.tensor.numel() == 0) return sums;
  with_floating(reduced.tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch(op, std::array{updates(sums), reads(reduced.tensor), reads(means)}, [lines = reduced.lines](Addresses data) {
      const auto* const middle = as<double>(data[2]);
      add_lines(as<T>(data[1]), lines, as_mutable<double>(data[0]),
                [middle](double x, std::int64_t line) { return (x - middle[line]) * (x - middle[line]); });
    });
  });
  return sums;
}

Tensor sums_of(const kernels::AddLines (&add)[2], const ReducedLines& reduced) {
  const Tensor sums = zeros(reduced.sizes, in_double(reduced.tensor));
  if (sums.numel() == 0 || reduced.tensor.numel() == 0) return sums;
  launch("norm", std::array{updates(sums), reads(reduced.tensor)},
         [lines = reduced.lines, run = add[reduced.tensor.dtype() == DType::F32 ? 0 : 1]](Addresses data) {
           run(data[1], as_mutable<double>(data[0]), lines);
         });
  return sums;
}

// Returns the divisor of the sum of squares.
std::int64_t freedom(std::int64_t count, bool unbiased) {
  return std::max<std::int64_t>(count - (unbiased ? 1 : 0), 0);
}

Tensor variance_in_double(const char* op, const Tensor& tensor, const Dims& dims, bool unbiased, bool keep_dims) {
  const ReducedLines reduced = floating_lines(op, tensor, dims, keep_dims);
  const Tensor means = div(plain_sums(op, reduced), reduced.lines.size);
  return div(sums_of_squares(op, reduced, means), freedom(reduced.lines.size, unbiased));
}

enum class NormKind : std::uint8_t { Count, Sizes, Squares, Largest, Smallest };

NormKind norm_kind(const Scalar& p) {
  const auto power = p.to<double>();
  if (power == 0) return NormKind::Count;
  if (power == 1) return NormKind::Sizes;
  if (power == 2) return NormKind::Squares;
  if (std::isinf(power)) return power > 0 ? NormKind::Largest : NormKind::Smallest;
  refuse("norm", "p must be 0, 1, 2 or infinity, not " + to_string(p), {});
}

}  // namespace

Tensor var(const Tensor& tensor) { return var(tensor, Dims{}); }
Tensor var(const Tensor& tensor, const Dims& dims, bool unbiased, bool keep_dims) {
  check_defined("var", {&tensor});
  return to(variance_in_double("var", tensor, dims, unbiased, keep_dims), tensor.dtype());
}

Tensor standard_deviation(const Tensor& tensor) { return standard_deviation(tensor, Dims{}); }
Tensor standard_deviation(const Tensor& tensor, const Dims& dims, bool unbiased, bool keep_dims) {
  check_defined("std", {&tensor});
  return to(sqrt(variance_in_double("std", tensor, dims, unbiased, keep_dims)), tensor.dtype());
}

Tensor norm(const Tensor& tensor, const Scalar& p) { return norm(tensor, p, Dims{}); }
Tensor norm(const Tensor& tensor, const Scalar& p, const Dims& dims, bool keep_dims) {
  const ReducedLines reduced = floating_lines("norm", tensor, dims, keep_dims);
  const kernels::RowKernels& each = *kernels::table().rows;
  switch (norm_kind(p)) {
    case NormKind::Count: return to(sum(ne(tensor, 0), dims, keep_dims), tensor.dtype());
    case NormKind::Sizes: return to(sums_of(each.add_sizes, reduced), tensor.dtype());
    case NormKind::Squares: return to(sqrt(sums_of(each.add_squares, reduced)), tensor.dtype());
    case NormKind::Smallest: return amin(abs(tensor), dims, keep_dims);
    case NormKind::Largest: break;
  }
  if (tensor.numel() == 0 && reduced.lines.size == 0) return zeros(reduced.sizes, tensor.options());
  return amax(abs(tensor), dims, keep_dims);
}

Tensor norm_gradient(const Tensor& gradient, const Tensor& input, const Tensor& result, const Scalar& p,
                     const Dims& dims) {
  switch (norm_kind(p)) {
    case NormKind::Count: return zeros_like(input);
    case NormKind::Sizes: return abs_backward(gradient, input);
    case NormKind::Squares: return mul(input, where(eq(result, 0), 0, div(gradient, result)));
    default: return abs_backward(extremes_gradient(gradient, abs(input), result, dims), input);
  }
}

}  // namespace distrun::tensor::plain

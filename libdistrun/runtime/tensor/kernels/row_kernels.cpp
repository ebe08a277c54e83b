// Layer normalization, which brings rows to mean 0 and variance 1, and the sums of norms.
// Built once for each instruction set, with DISTRUN_KERNEL_SET as its name; see loops.hpp.
#include <distrun/runtime/tensor/kernels/line_sums.hpp>
#include <distrun/runtime/tensor/kernels/lines.hpp>
#include <distrun/runtime/tensor/kernels/loops.hpp>

namespace distrun::tensor::kernels {
namespace {

// Weight and bias may be null.
template <class T>
void normalize_row(const T* in, T* out, T middle, T scale, const T* weight, const T* bias, std::int64_t size) {
  if (weight == nullptr && bias == nullptr) {
    DISTRUN_INDEPENDENT
    for (std::int64_t i = 0; i < size; ++i) out[i] = (in[i] - middle) * scale;
  } else if (bias == nullptr) {
    DISTRUN_INDEPENDENT
    for (std::int64_t i = 0; i < size; ++i) out[i] = (in[i] - middle) * scale * weight[i];
  } else if (weight == nullptr) {
    DISTRUN_INDEPENDENT
    for (std::int64_t i = 0; i < size; ++i) out[i] = (in[i] - middle) * scale + bias[i];
  } else {
    DISTRUN_INDEPENDENT
    for (std::int64_t i = 0; i < size; ++i) out[i] = (in[i] - middle) * scale * weight[i] + bias[i];
  }
}

template <class T>
void normalize_rows_run(const RowNormalization& rows) {
  const std::int64_t size = rows.size;
  const double count = static_cast<double>(size);
  const T* in = static_cast<const T*>(rows.input);
  T* out = static_cast<T*>(rows.out);
  for (std::int64_t row = 0; row < rows.count; ++row, in += size, out += size) {
    const double middle = sum_of_values(size, [in](std::int64_t i) { return static_cast<double>(in[i]); }) / count;
    const double squares = sum_of_values(size, [in, middle](std::int64_t i) {
      const double off = static_cast<double>(in[i]) - middle;
      return off * off;
    });
    const T mean = static_cast<T>(middle);
    const T inverse = static_cast<T>(1 / __builtin_sqrt(squares / count + rows.epsilon));
    static_cast<T*>(rows.mean)[row] = mean;
    static_cast<T*>(rows.inverse)[row] = inverse;
    normalize_row(in, out, mean, inverse, static_cast<const T*>(rows.weight), static_cast<const T*>(rows.bias), size);
  }
}

// The means of h and of h n, with h = gradient weight and n the normalized numbers.
struct RowMeans {
  double h = 0, h_by_normal = 0;
};
template <class T, class H, class Normal>
RowMeans means_of_row(const H& h, const Normal& normal, std::int64_t size) {
  const double count = static_cast<double>(size);
  return {sum_of_values(size, [&](std::int64_t i) { return static_cast<double>(h(i)); }) / count,
          sum_of_values(size, [&](std::int64_t i) { return static_cast<double>(h(i) * normal(i)); }) / count};
}

// (h - mean of h - n mean of h n) inverse
template <class T, class H>
void row_gradient(const H h, const T* in, T middle, T inverse, T* out, std::int64_t size) {
  const auto normal = [in, middle, inverse](std::int64_t i) { return (in[i] - middle) * inverse; };
  const RowMeans means = means_of_row<T>(h, normal, size);
  const T mean = static_cast<T>(means.h), mean_by_normal = static_cast<T>(means.h_by_normal);
  DISTRUN_INDEPENDENT
  for (std::int64_t i = 0; i < size; ++i) out[i] = (h(i) - mean - normal(i) * mean_by_normal) * inverse;
}

// Takes kRows rows at a time, in order, so that the sums are loaded once for all of them.
template <std::int64_t kRows, class T>
void add_to_sums(const RowNormalizationGradient& rows, std::int64_t first) {
  const std::int64_t size = rows.size, start = first * size;
  const T *const gradient = static_cast<const T*>(rows.gradient) + start, *const in =
                                                                              static_cast<const T*>(rows.input) + start;
  const T *const mean = static_cast<const T*>(rows.mean) + first, *const inverse =
                                                                      static_cast<const T*>(rows.inverse) + first;
  double *const of_weight = rows.of_weight, *const of_bias = rows.of_bias;
  DISTRUN_INDEPENDENT
  for (std::int64_t i = rows.first_column; i < rows.first_column + rows.columns; ++i) {
    double weight = of_weight[i], bias = of_bias[i];
    for (std::int64_t row = 0; row < kRows; ++row) {
      const T g = gradient[row * size + i];
      weight += static_cast<double>(g * ((in[row * size + i] - mean[row]) * inverse[row]));
      bias += static_cast<double>(g);
    }
    of_weight[i] = weight;
    of_bias[i] = bias;
  }
}

template <class T>
void add_parameter_gradients(const RowNormalizationGradient& rows) {
  constexpr std::int64_t kTogether = 4;
  std::int64_t row = 0;
  for (; row + kTogether <= rows.count; row += kTogether) add_to_sums<kTogether, T>(rows, row);
  for (; row < rows.count; ++row) add_to_sums<1, T>(rows, row);
}

template <class T>
void normalize_rows_gradient_run(const RowNormalizationGradient& rows) {
  const std::int64_t size = rows.size;
  const T *g = static_cast<const T*>(rows.gradient), *in = static_cast<const T*>(rows.input);
  const T* const weight = static_cast<const T*>(rows.weight);
  T* out = static_cast<T*>(rows.of_input);
  for (std::int64_t row = 0; row < rows.count && out != nullptr; ++row, g += size, in += size, out += size) {
    const T middle = static_cast<const T*>(rows.mean)[row], inverse = static_cast<const T*>(rows.inverse)[row];
    if (weight == nullptr) {
      row_gradient([g](std::int64_t i) { return g[i]; }, in, middle, inverse, out, size);
    } else {
      row_gradient([g, weight](std::int64_t i) { return g[i] * weight[i]; }, in, middle, inverse, out, size);
    }
  }
  if (rows.of_weight != nullptr) add_parameter_gradients<T>(rows);
}

struct Square {
  static double of(double x) { return x * x; }
};
struct Size {
  static double of(double x) { return __builtin_fabs(x); }
};

// Sums columns side by side, in memory order.
template <class T, class Value>
void add_lines_run(const void* data, double* sums, const Lines& lines) {
  const T* in = static_cast<const T*>(data);
  if (lines.inner == 1) {
    for (std::int64_t row = 0; row < lines.outer; ++row, in += lines.size) {
      sums[row] += sum_of_values(lines.size, [in](std::int64_t i) { return Value::of(static_cast<double>(in[i])); });
    }
    return;
  }
  for (std::int64_t before = 0; before < lines.outer; ++before, sums += lines.inner) {
    for (std::int64_t i = 0; i < lines.size; ++i, in += lines.inner) {
      for (std::int64_t j = 0; j < lines.inner; ++j) sums[j] += Value::of(static_cast<double>(in[j]));
    }
  }
}

}  // namespace

extern const RowKernels DISTRUN_NAMED(row_kernels_, DISTRUN_KERNEL_SET);
constexpr RowKernels DISTRUN_NAMED(row_kernels_, DISTRUN_KERNEL_SET) = {
    {&normalize_rows_run<float>, &normalize_rows_run<double>},
    {&normalize_rows_gradient_run<float>, &normalize_rows_gradient_run<double>},
    {&add_lines_run<float, Square>, &add_lines_run<double, Square>},
    {&add_lines_run<float, Size>, &add_lines_run<double, Size>},
};

}  // namespace distrun::tensor::kernels

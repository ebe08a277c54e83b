// Softmax, its logarithm and their gradients: along rows, or over many columns side by side.
// Built once for each instruction set, with DISTRUN_KERNEL_SET as its name; see loops.hpp.
#include <distrun/runtime/tensor/kernels/line_extremes.hpp>
#include <distrun/runtime/tensor/kernels/line_sums.hpp>
#include <distrun/runtime/tensor/kernels/lines.hpp>
#include <distrun/runtime/tensor/kernels/loops.hpp>

namespace distrun::tensor::kernels {
namespace {

constexpr std::int64_t kPart = 1024;    // elements of rows in progress at a time
constexpr std::int64_t kColumns = 256;  // columns in progress at a time

// Short rows are processed together, so that the loops over elements are long.
constexpr std::int64_t rows_together(std::int64_t size) { return size < kPart ? kPart / size : 1; }

template <class T>
void less(const T* in, T* out, T number, std::int64_t count) {
  DISTRUN_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) out[i] = in[i] - number;
}

template <class T>
void scale(T* data, T factor, std::int64_t count) {
  DISTRUN_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) data[i] *= factor;
}

template <class T>
void powers(const T* in, T* out, std::int64_t count) {
  DISTRUN_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) out[i] = exponential(in[i]);
}

// Computes e^x for x <= 0.
template <class T>
void powers_up_to_1(const T* in, T* out, std::int64_t count) {
  DISTRUN_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) out[i] = exponential_up_to_0(in[i]);
}

// e^(in - largest)
template <class T>
void powers_less(const T* in, T* out, T largest, std::int64_t count) {
  DISTRUN_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) out[i] = exponential_up_to_0(in[i] - largest);
}

template <class T>
double total_of(const T* data, std::int64_t count) {
  return sum_of_values(count, [data](std::int64_t i) { return static_cast<double>(data[i]); });
}

// As exact as the results need.
inline void logarithms(const double* sums, float* out, std::int64_t count) {
  DISTRUN_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = static_cast<float>(binary_logarithm(sums[i]) * 0x1.62e42fefa39efp-1);
}
inline void logarithms(const double* sums, double* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = natural_logarithm(sums[i]);
}

// Sums e^x of each row; the rows have at most kPart elements together, or there is one row.
template <class T>
void sums_of_powers(const T* in, double* sums, std::int64_t rows, std::int64_t size) {
  T part[kPart];
  if (size <= kPart) {
    powers_up_to_1(in, part, rows * size);
    for (std::int64_t row = 0; row < rows; ++row) sums[row] = total_of(part + row * size, size);
    return;
  }
  sums[0] = 0;
  for (std::int64_t start = 0; start < size; start += kPart) {
    const std::int64_t count = size - start < kPart ? size - start : kPart;
    powers_up_to_1(in + start, part, count);
    sums[0] += total_of(part, count);
  }
}

// Calls body(first, count) for rows that are processed together.
template <class Body>
void for_rows(const Lines& lines, const Body body) {
  const std::int64_t together = rows_together(lines.size);
  for (std::int64_t first = 0; first < lines.outer; first += together) {
    body(first, lines.outer - first < together ? lines.outer - first : together);
  }
}

// Calls body(start, count) for columns that are processed together; their lines start at element `start`.
template <class Body>
void for_columns(const Lines& lines, const Body body) {
  for (std::int64_t before = 0; before < lines.outer; ++before) {
    for (std::int64_t after = 0; after < lines.inner; after += kColumns) {
      const std::int64_t left = lines.inner - after;
      body(before * lines.size * lines.inner + after, left < kColumns ? left : kColumns);
    }
  }
}

template <class T>
void less_largest_of_rows(const T* in, T* out, std::int64_t rows, std::int64_t size) {
  for (std::int64_t row = 0; row < rows; ++row) {
    less(in + row * size, out + row * size, best_of<Larger>(in + row * size, size), size);
  }
}

template <class T>
void less_largest_of_columns(const T* in, T* out, std::int64_t columns, const Lines& lines) {
  T largest[kColumns];
  for (std::int64_t j = 0; j < columns; ++j) largest[j] = in[j];
  for (std::int64_t i = 1; i < lines.size; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) largest[j] = Larger::of(largest[j], in[i * lines.inner + j]);
  }
  for (std::int64_t i = 0; i < lines.size; ++i) {
    DISTRUN_INDEPENDENT
    for (std::int64_t j = 0; j < columns; ++j) out[i * lines.inner + j] = in[i * lines.inner + j] - largest[j];
  }
}

template <class T>
void softmax_of_rows(const T* in, T* out, const Lines& lines) {
  for_rows(lines, [&](std::int64_t first, std::int64_t rows) {
    const T* const from = in + first * lines.size;
    T* const block = out + first * lines.size;
    if (rows == 1) {
      powers_less(from, block, best_of<Larger>(from, lines.size), lines.size);
    } else {
      less_largest_of_rows(from, block, rows, lines.size);
      powers_up_to_1(block, block, rows * lines.size);
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      T* const line = block + row * lines.size;
      scale(line, static_cast<T>(1 / total_of(line, lines.size)), lines.size);
    }
  });
}

template <class T>
void softmax_of_columns(const T* in, T* out, const Lines& lines) {
  for_columns(lines, [&](std::int64_t start, std::int64_t columns) {
    double sums[kColumns] = {};
    T* const block = out + start;
    less_largest_of_columns(in + start, block, columns, lines);
    for (std::int64_t i = 0; i < lines.size; ++i) {
      T* const row = block + i * lines.inner;
      powers_up_to_1(row, row, columns);
      for (std::int64_t j = 0; j < columns; ++j) sums[j] += static_cast<double>(row[j]);
    }
    T factors[kColumns];
    for (std::int64_t j = 0; j < columns; ++j) factors[j] = static_cast<T>(1 / sums[j]);
    for (std::int64_t i = 0; i < lines.size; ++i) {
      T* const row = block + i * lines.inner;
      DISTRUN_INDEPENDENT
      for (std::int64_t j = 0; j < columns; ++j) row[j] *= factors[j];
    }
  });
}

template <class T>
void log_softmax_of_rows(const T* in, T* out, const Lines& lines) {
  for_rows(lines, [&](std::int64_t first, std::int64_t rows) {
    double sums[kPart];
    T logs[kPart];
    T* const block = out + first * lines.size;
    less_largest_of_rows(in + first * lines.size, block, rows, lines.size);
    sums_of_powers(block, sums, rows, lines.size);
    logarithms(sums, logs, rows);
    for (std::int64_t row = 0; row < rows; ++row) {
      T* const line = block + row * lines.size;
      less(line, line, logs[row], lines.size);
    }
  });
}

template <class T>
void log_softmax_of_columns(const T* in, T* out, const Lines& lines) {
  for_columns(lines, [&](std::int64_t start, std::int64_t columns) {
    double sums[kColumns] = {};
    T part[kColumns];
    T* const block = out + start;
    less_largest_of_columns(in + start, block, columns, lines);
    for (std::int64_t i = 0; i < lines.size; ++i) {
      powers_up_to_1(block + i * lines.inner, part, columns);
      for (std::int64_t j = 0; j < columns; ++j) sums[j] += static_cast<double>(part[j]);
    }
    logarithms(sums, part, columns);
    for (std::int64_t i = 0; i < lines.size; ++i) {
      T* const row = block + i * lines.inner;
      DISTRUN_INDEPENDENT
      for (std::int64_t j = 0; j < columns; ++j) row[j] -= part[j];
    }
  });
}

template <class T>
void softmax_gradient_of_rows(const T* gradient, const T* result, T* out, const Lines& lines) {
  for (std::int64_t row = 0; row < lines.outer; ++row) {
    const T *const g = gradient + row * lines.size, *const r = result + row * lines.size;
    T* const to = out + row * lines.size;
    const T sum =
        static_cast<T>(sum_of_values(lines.size, [g, r](std::int64_t i) { return static_cast<double>(g[i] * r[i]); }));
    DISTRUN_INDEPENDENT
    for (std::int64_t i = 0; i < lines.size; ++i) to[i] = (g[i] - sum) * r[i];
  }
}

template <class T>
void softmax_gradient_of_columns(const T* gradient, const T* result, T* out, const Lines& lines) {
  for_columns(lines, [&](std::int64_t start, std::int64_t columns) {
    double sums[kColumns] = {};
    for (std::int64_t i = 0; i < lines.size; ++i) {
      const T *const g = gradient + start + i * lines.inner, *const r = result + start + i * lines.inner;
      for (std::int64_t j = 0; j < columns; ++j) sums[j] += static_cast<double>(g[j] * r[j]);
    }
    for (std::int64_t i = 0; i < lines.size; ++i) {
      const T *const g = gradient + start + i * lines.inner, *const r = result + start + i * lines.inner;
      T* const to = out + start + i * lines.inner;
      DISTRUN_INDEPENDENT
      for (std::int64_t j = 0; j < columns; ++j) to[j] = (g[j] - static_cast<T>(sums[j])) * r[j];
    }
  });
}

// Each gradient is reduced by e^r times the sum of the line's gradients.
template <class T>
void log_softmax_gradient_of_rows(const T* gradient, const T* result, T* out, const Lines& lines) {
  for_rows(lines, [&](std::int64_t first, std::int64_t rows) {
    T* const block = out + first * lines.size;
    powers(result + first * lines.size, block, rows * lines.size);
    for (std::int64_t row = 0; row < rows; ++row) {
      const T* const g = gradient + (first + row) * lines.size;
      T* const to = block + row * lines.size;
      const T sum = static_cast<T>(total_of(g, lines.size));
      DISTRUN_INDEPENDENT
      for (std::int64_t i = 0; i < lines.size; ++i) to[i] = g[i] - to[i] * sum;
    }
  });
}

template <class T>
void log_softmax_gradient_of_columns(const T* gradient, const T* result, T* out, const Lines& lines) {
  for_columns(lines, [&](std::int64_t start, std::int64_t columns) {
    double sums[kColumns] = {};
    for (std::int64_t i = 0; i < lines.size; ++i) {
      const T* const g = gradient + start + i * lines.inner;
      for (std::int64_t j = 0; j < columns; ++j) sums[j] += static_cast<double>(g[j]);
    }
    for (std::int64_t i = 0; i < lines.size; ++i) {
      const T* const g = gradient + start + i * lines.inner;
      T* const to = out + start + i * lines.inner;
      powers(result + start + i * lines.inner, to, columns);
      DISTRUN_INDEPENDENT
      for (std::int64_t j = 0; j < columns; ++j) to[j] = g[j] - to[j] * static_cast<T>(sums[j]);
    }
  });
}

template <class T>
void scaled_powers_run(const void* in, const double* factors, void* out, const Lines& lines) {
  const T* from = static_cast<const T*>(in);
  T* to = static_cast<T*>(out);
  if (lines.inner == 1) {
    return for_rows(lines, [&](std::int64_t first, std::int64_t rows) {
      T* const block = to + first * lines.size;
      powers(from + first * lines.size, block, rows * lines.size);
      for (std::int64_t row = 0; row < rows; ++row) {
        scale(block + row * lines.size, static_cast<T>(factors[first + row]), lines.size);
      }
    });
  }
  for (std::int64_t before = 0; before < lines.outer; ++before, factors += lines.inner) {
    for (std::int64_t i = 0; i < lines.size; ++i, from += lines.inner, to += lines.inner) {
      powers(from, to, lines.inner);
      for (std::int64_t j = 0; j < lines.inner; ++j) to[j] *= static_cast<T>(factors[j]);
    }
  }
}

// Uses rows if the lines are contiguous, otherwise columns.
template <class T, void (*kOfRows)(const T*, T*, const Lines&), void (*kOfColumns)(const T*, T*, const Lines&)>
void over_lines(const void* in, void* out, const Lines& lines) {
  (lines.inner == 1 ? kOfRows : kOfColumns)(static_cast<const T*>(in), static_cast<T*>(out), lines);
}
template <class T, void (*kOfRows)(const T*, const T*, T*, const Lines&),
          void (*kOfColumns)(const T*, const T*, T*, const Lines&)>
void over_lines_back(const void* gradient, const void* result, void* out, const Lines& lines) {
  (lines.inner == 1 ? kOfRows : kOfColumns)(static_cast<const T*>(gradient), static_cast<const T*>(result),
                                            static_cast<T*>(out), lines);
}

#define DISTRUN_OVER_LINES(run, name) \
  { &run<float, name##_of_rows, name##_of_columns>, &run<double, name##_of_rows, name##_of_columns> }

}  // namespace

extern const SoftmaxKernels DISTRUN_NAMED(softmax_kernels_, DISTRUN_KERNEL_SET);
constexpr SoftmaxKernels DISTRUN_NAMED(softmax_kernels_, DISTRUN_KERNEL_SET) = {
    DISTRUN_OVER_LINES(over_lines, softmax),
    DISTRUN_OVER_LINES(over_lines, log_softmax),
    DISTRUN_OVER_LINES(over_lines_back, softmax_gradient),
    DISTRUN_OVER_LINES(over_lines_back, log_softmax_gradient),
    {&scaled_powers_run<float>, &scaled_powers_run<double>},
};

}  // namespace distrun::tensor::kernels

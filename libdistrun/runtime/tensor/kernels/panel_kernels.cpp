// Panels of products of floating matrices, for convolutions. Built once for each instruction set, with
// DISTRUN_KERNEL_SET as its name, and with fused products and sums where there are such instructions.
#include <distrun/runtime/tensor/kernels/loops.hpp>

namespace distrun::tensor::kernels {
namespace {

#if defined(__AVX512F__)
constexpr std::int64_t kVectorBytes = 64, kRows = 8;
#elif defined(__AVX2__)
constexpr std::int64_t kVectorBytes = 32, kRows = 4;
#else
constexpr std::int64_t kVectorBytes = 16, kRows = 4;
#endif

template <class T, std::int64_t kBytes>
struct VectorOf {
  typedef T Type __attribute__((vector_size(kBytes)));
  static constexpr std::int64_t kSize = kBytes / static_cast<std::int64_t>(sizeof(T));
};

// kRows rows of a panel from `first` on, and as many columns as kVectors vectors have: sums that are all in registers.
// Each is a function of its own, so that nothing else takes registers.
template <class T, std::int64_t kBytes, std::int64_t kVectors>
struct Tile {
  using Vector = typename VectorOf<T, kBytes>::Type;
  static constexpr std::int64_t kSize = VectorOf<T, kBytes>::kSize, kColumns = kVectors * kSize;

  [[gnu::noinline]] static void multiply(const Panel& panel, std::int64_t first, std::int64_t column) {
    Vector sums[kRows][kVectors] = {};
    const T* a = static_cast<const T*>(panel.a) + first;
    const T* b = static_cast<const T*>(panel.b) + column;
    const std::int64_t *b_row = panel.b_rows, *const end = b_row + panel.inner;
    do {
      Vector right[kVectors];
      for (std::int64_t j = 0; j < kVectors; ++j) __builtin_memcpy(&right[j], b + *b_row + j * kSize, sizeof right[j]);
      for (std::int64_t i = 0; i < kRows; ++i) {
        for (std::int64_t j = 0; j < kVectors; ++j) sums[i][j] += a[i] * right[j];
      }
      a += kPanelRows;
    } while (++b_row != end);
    for (std::int64_t i = 0; i < kRows; ++i) {
      T* const c = static_cast<T*>(panel.c) + (first + i) * panel.c_row + column;
      for (std::int64_t j = 0; j < kVectors; ++j) {
        const Vector sum = sums[i][j] + static_cast<const T*>(panel.plus)[first + i];
        __builtin_memcpy(c + j * kSize, &sum, sizeof sum);
      }
    }
  }

  [[gnu::noinline]] static void multiply(const LinesPanel& panel, std::int64_t first, std::int64_t column) {
    Vector sums[kRows][kVectors] = {};
    const T* rows[kRows];
    for (std::int64_t i = 0; i < kRows; ++i) rows[i] = static_cast<const T*>(panel.a) + panel.a_rows[first + i];
    const T* b = static_cast<const T*>(panel.b) + column;
    std::int64_t line = 0;
    do {
      std::int64_t k = line * panel.a_line;
      const std::int64_t end = k + panel.count;
      do {
        Vector right[kVectors];
        for (std::int64_t j = 0; j < kVectors; ++j) __builtin_memcpy(&right[j], b + j * kSize, sizeof right[j]);
        for (std::int64_t i = 0; i < kRows; ++i) {
          for (std::int64_t j = 0; j < kVectors; ++j) sums[i][j] += rows[i][k] * right[j];
        }
        b += panel.columns;
      } while (++k != end);
    } while (++line != panel.lines);
    for (std::int64_t i = 0; i < kRows; ++i) {
      T* const c = static_cast<T*>(panel.c) + (first + i) * panel.columns + column;
      for (std::int64_t j = 0; j < kVectors; ++j) {
        Vector sum;
        __builtin_memcpy(&sum, c + j * kSize, sizeof sum);
        sum += sums[i][j];
        __builtin_memcpy(c + j * kSize, &sum, sizeof sum);
      }
    }
  }
};

// From `column` on, as many as there are of that width; returns where the next begins.
template <class OfTile, class AnyPanel>
std::int64_t multiply_tiles(const AnyPanel& panel, std::int64_t column) {
  for (; column + OfTile::kColumns <= panel.columns; column += OfTile::kColumns) {
    for (std::int64_t row = 0; row < kPanelRows; row += kRows) OfTile::multiply(panel, row, column);
  }
  return column;
}

template <class T, class AnyPanel>
void multiply_line(const AnyPanel& panel) {
  static_assert(kPanelRows % kRows == 0, "tiles make up the panel");
  std::int64_t column = multiply_tiles<Tile<T, kVectorBytes, 2>>(panel, 0);
  column = multiply_tiles<Tile<T, kVectorBytes, 1>>(panel, column);
  if constexpr (VectorOf<T, kVectorBytes>::kSize > kPanelColumns) {
    multiply_tiles<Tile<T, kVectorBytes / 2, 1>>(panel, column);
  }
}

template <class T>
void multiply_lines(const Panel& panel) {
  Panel line = panel;
  for (std::int64_t i = 0; i < panel.lines; ++i) {
    multiply_line<T>(line);
    line.b = static_cast<const T*>(line.b) + panel.b_line;
    line.c = static_cast<T*>(line.c) + panel.c_line;
  }
}

}  // namespace

extern const PanelKernels DISTRUN_NAMED(panel_kernels_, DISTRUN_KERNEL_SET);
constexpr PanelKernels DISTRUN_NAMED(panel_kernels_, DISTRUN_KERNEL_SET) = {
    {&multiply_lines<float>, &multiply_lines<double>},
    {&multiply_line<float, LinesPanel>, &multiply_line<double, LinesPanel>},
};

}  // namespace distrun::tensor::kernels

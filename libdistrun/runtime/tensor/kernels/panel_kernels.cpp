// Panels of products of floating matrices, for convolutions. Built once for each instruction set, with
// DISTRUN_KERNEL_SET as its name, and with fused multiply-add where available.
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

// Multiplies kTileRows rows of a panel from `first` on with the columns of kVectors vectors; all sums are in registers.
// A separate function each, so that nothing else uses registers.
template <class T, std::int64_t kTileRows, std::int64_t kBytes, std::int64_t kVectors>
struct Tile {
  using Vector = typename VectorOf<T, kBytes>::Type;
  static constexpr std::int64_t kSize = VectorOf<T, kBytes>::kSize, kColumns = kVectors * kSize, kRows = kTileRows;

  [[gnu::noinline]] static void multiply(const Panel& panel, std::int64_t first, std::int64_t column) {
    Vector sums[kTileRows][kVectors] = {};
    const T* a = static_cast<const T*>(panel.a) + first;
    const T* b = static_cast<const T*>(panel.b) + column;
    const std::int64_t *b_row = panel.b_rows, *const end = b_row + panel.inner;
    do {
      Vector right[kVectors];
      for (std::int64_t j = 0; j < kVectors; ++j) __builtin_memcpy(&right[j], b + *b_row + j * kSize, sizeof right[j]);
      for (std::int64_t i = 0; i < kTileRows; ++i) {
        for (std::int64_t j = 0; j < kVectors; ++j) sums[i][j] += a[i] * right[j];
      }
      a += kPanelRows;
    } while (++b_row != end);
    T* c = static_cast<T*>(panel.c) + first * panel.c_row + column;
    const T* const plus = static_cast<const T*>(panel.plus) + first;
    const std::int64_t c_row = panel.c_row;
    for (std::int64_t i = 0; i < kTileRows; ++i, c += c_row) {
      for (std::int64_t j = 0; j < kVectors; ++j) {
        const Vector sum = sums[i][j] + plus[i];
        __builtin_memcpy(c + j * kSize, &sum, sizeof sum);
      }
    }
  }

  [[gnu::noinline]] static void multiply(const GatheredPanel& panel, std::int64_t first, std::int64_t column) {
    Vector sums[kTileRows][kVectors] = {};
    const T* rows[kTileRows];
    for (std::int64_t i = 0; i < kTileRows; ++i) rows[i] = static_cast<const T*>(panel.a_rows[first + i]);
    const T* b = static_cast<const T*>(panel.b) + column;
    const Factors *k = panel.factors, *const end = k + panel.inner;
    do {
      const T* const b_row = b + k->b;
      const std::int64_t a_column = k->a;
      Vector right[kVectors];
      for (std::int64_t j = 0; j < kVectors; ++j) __builtin_memcpy(&right[j], b_row + j * kSize, sizeof right[j]);
      for (std::int64_t i = 0; i < kTileRows; ++i) {
        for (std::int64_t j = 0; j < kVectors; ++j) sums[i][j] += rows[i][a_column] * right[j];
      }
    } while (++k != end);
    const bool accumulate = panel.accumulate;
    for (std::int64_t i = 0; i < kTileRows; ++i) {
      T* const c = static_cast<T*>(panel.c_rows[first + i]) + column;
      for (std::int64_t j = 0; j < kVectors; ++j) {
        Vector sum = {};
        if (accumulate) __builtin_memcpy(&sum, c + j * kSize, sizeof sum);
        sum += sums[i][j];
        __builtin_memcpy(c + j * kSize, &sum, sizeof sum);
      }
    }
  }
};

// Runs all tiles of that width from `column` on; returns the next column.
template <class OfTile, class AnyPanel>
std::int64_t multiply_tiles(const AnyPanel& panel, std::int64_t rows, std::int64_t column) {
  for (; column + OfTile::kColumns <= panel.columns; column += OfTile::kColumns) {
    for (std::int64_t row = 0; row < rows; row += OfTile::kRows) OfTile::multiply(panel, row, column);
  }
  return column;
}

template <class T, std::int64_t kTileRows, class AnyPanel>
void multiply_rows(const AnyPanel& panel, std::int64_t rows) {
  std::int64_t column = multiply_tiles<Tile<T, kTileRows, kVectorBytes, 2>>(panel, rows, 0);
  column = multiply_tiles<Tile<T, kTileRows, kVectorBytes, 1>>(panel, rows, column);
  if constexpr (VectorOf<T, kVectorBytes>::kSize > kPanelColumns) {
    multiply_tiles<Tile<T, kTileRows, kVectorBytes / 2, 1>>(panel, rows, column);
  }
}

template <class T>
void multiply_gathered(const GatheredPanel& panel) {
  static_assert(kPanelRows % kRows == 0 && kPanelRows == 2 * kPanelRowsLeast, "tiles make up the panel, or half of it");
  if (panel.rows > kPanelRowsLeast) return multiply_rows<T, kRows>(panel, kPanelRows);
  multiply_rows<T, kPanelRowsLeast>(panel, kPanelRowsLeast);
}

template <class T>
void multiply_lines(const Panel& panel) {
  Panel line = panel;
  for (std::int64_t i = 0; i < panel.lines; ++i) {
    multiply_rows<T, kRows>(line, kPanelRows);
    line.b = static_cast<const T*>(line.b) + panel.b_line;
    line.c = static_cast<T*>(line.c) + panel.c_line;
  }
}

template <class T>
void take_each(const void* elements, std::int64_t step, std::int64_t count, void* out) {
  const T* const in = static_cast<const T*>(elements);
  T* const to = static_cast<T*>(out);
  if (step == 2) {  // vectorized by the compiler
    for (std::int64_t i = 0; i < count; ++i) to[i] = in[i * 2];
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) to[i] = in[i * step];
}

}  // namespace

extern const PanelKernels DISTRUN_NAMED(panel_kernels_, DISTRUN_KERNEL_SET);
constexpr PanelKernels DISTRUN_NAMED(panel_kernels_, DISTRUN_KERNEL_SET) = {
    {&multiply_lines<float>, &multiply_lines<double>},
    {&multiply_gathered<float>, &multiply_gathered<double>},
    {&take_each<float>, &take_each<double>},
};

}  // namespace distrun::tensor::kernels

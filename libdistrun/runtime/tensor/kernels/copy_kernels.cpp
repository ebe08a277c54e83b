// Copies to another dtype or memory order, and fills.
// Built once for each instruction set, with DISTRUN_KERNEL_SET as its name; see loops.hpp.
#include <distrun/runtime/tensor/kernels/loops.hpp>

namespace distrun::tensor::kernels {
namespace {

template <class From, class To>
struct Convert {
  explicit Convert(const void*) {}
  To operator()(From value) const { return convert_one<To>(value); }
};

template <class T>
void fill_run(std::byte* const* first, Steps along, Steps down, const void* parameter) {
  const T value = constant<T>(parameter);
  const std::int64_t count = along.count, stride = along.strides[0];
  for_each_run<1>(first, down, [value, count, stride](std::byte* const* data) {
    if (is_packed<T>(stride)) {
      T* out = at<T>(data[0], 0);
      for (std::int64_t i = 0; i < count; ++i) out[i] = value;
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) *at<T>(data[0], i * stride) = value;
  });
}

// Columns are far apart, so the hardware does not predict which one is read next.
void prefetch_next(const Turned& matrix, std::int64_t column, std::int64_t count) {
  constexpr std::int64_t kLine = 64;
  const std::byte* begin = matrix.next + column * matrix.column_stride;
  for (; count > 0; --count, begin += matrix.column_stride) {
    for (std::int64_t at = 0; at < matrix.rows * matrix.row_stride; at += kLine) __builtin_prefetch(begin + at, 0, 2);
  }
}

template <class T>
void turn_elements(const Turned& matrix, std::byte* out, std::int64_t out_stride) {
  for (std::int64_t column = 0; column < matrix.columns; ++column) {
    const std::byte* in = matrix.data + column * matrix.column_stride;
    if (matrix.next != nullptr) prefetch_next(matrix, column, 1);
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      __builtin_memcpy(out + row * out_stride + column * static_cast<std::int64_t>(sizeof(T)),
                       in + row * matrix.row_stride, sizeof(T));
    }
  }
}

typedef std::uint32_t Four __attribute__((vector_size(16)));
typedef std::uint64_t Two __attribute__((vector_size(16)));

// Transposes a square with as many vectors as a vector has elements.
void turn_square(Four (&square)[4]) {
  const Four ab = __builtin_shufflevector(square[0], square[1], 0, 4, 1, 5);
  const Four cd = __builtin_shufflevector(square[2], square[3], 0, 4, 1, 5);
  const Four ab_high = __builtin_shufflevector(square[0], square[1], 2, 6, 3, 7);
  const Four cd_high = __builtin_shufflevector(square[2], square[3], 2, 6, 3, 7);
  square[0] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
  square[1] = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
  square[2] = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  square[3] = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}
void turn_square(Two (&square)[2]) {
  const Two low = __builtin_shufflevector(square[0], square[1], 0, 2);
  square[1] = __builtin_shufflevector(square[0], square[1], 1, 3);
  square[0] = low;
}

// Reads each column's bytes at once, since columns of a large matrix are far apart.
template <class Vector, class T>
void turn_squares(const Turned& matrix, std::byte* out, std::int64_t out_stride) {
  constexpr std::int64_t kSide = sizeof(Vector) / sizeof(T), kBytes = sizeof(T);
  const std::int64_t rows = matrix.rows / kSide * kSide, columns = matrix.columns / kSide * kSide;
  for (std::int64_t column = 0; column < columns; column += kSide) {
    if (matrix.next != nullptr) prefetch_next(matrix, column, kSide);
    for (std::int64_t row = 0; row < rows; row += kSide) {
      Vector square[kSide];
      for (std::int64_t i = 0; i < kSide; ++i) {
        __builtin_memcpy(&square[i], matrix.data + (column + i) * matrix.column_stride + row * kBytes, sizeof(Vector));
      }
      turn_square(square);
      for (std::int64_t i = 0; i < kSide; ++i) {
        __builtin_memcpy(out + (row + i) * out_stride + column * kBytes, &square[i], sizeof(Vector));
      }
    }
  }
  Turned below = matrix;
  below.next = nullptr;
  below.data += rows * kBytes;
  below.rows -= rows;
  turn_elements<T>(below, out + rows * out_stride, out_stride);
  Turned beside = matrix;
  beside.next = nullptr;
  beside.data += columns * matrix.column_stride;
  beside.columns -= columns;
  beside.rows = rows;
  turn_elements<T>(beside, out + columns * kBytes, out_stride);
}

template <class T>
void turn_run(const Turned& matrix, std::byte* out, std::int64_t out_stride) {
  if constexpr (sizeof(T) >= 4) {
    using Vector = std::conditional_t<sizeof(T) == 4, Four, Two>;
    if (is_packed<T>(matrix.row_stride)) return turn_squares<Vector, T>(matrix, out, out_stride);
  }
  turn_elements<T>(matrix, out, out_stride);
}

template <class From, class To>
constexpr Run kConvert = &unary_run<Convert<From, To>, From, To>;
// Bools are bytes 0 and 1, and compilers vectorize bytes.
template <class To>
constexpr Run kConvert<bool, To> = kConvert<std::uint8_t, To>;

#define DISTRUN_CONVERT(From)                                                                                      \
  {                                                                                                                \
    kConvert<From, bool>, kConvert<From, std::uint8_t>, kConvert<From, std::int8_t>, kConvert<From, std::int16_t>, \
        kConvert<From, std::int32_t>, kConvert<From, std::int64_t>, kConvert<From, float>, kConvert<From, double>  \
  }
#define DISTRUN_FILL(T) &fill_run<T>
#define DISTRUN_TURN(T) &turn_run<T>

}  // namespace

extern const CopyKernels DISTRUN_NAMED(copy_kernels_, DISTRUN_KERNEL_SET);
constexpr CopyKernels DISTRUN_NAMED(copy_kernels_, DISTRUN_KERNEL_SET) = {
    DISTRUN_FOR_DTYPES(DISTRUN_CONVERT),
    DISTRUN_FOR_DTYPES(DISTRUN_FILL),
    DISTRUN_FOR_DTYPES(DISTRUN_TURN),
};

}  // namespace distrun::tensor::kernels

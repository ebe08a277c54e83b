// Matrix products by plain loops: for integers, where speed does not matter, and for small floating ones, where Eigen
// takes longer to start than these to finish and its last bits depend on the result's address. Built once for each
// instruction set, with DISTRUN_KERNEL_SET as its name; sums are in order and not fused, so all give the same numbers.
// Integers wrap.
#include <distrun/runtime/tensor/kernels/table.hpp>

namespace distrun::tensor::kernels {
namespace {

template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, T,
                                std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;

template <class T>
Wide<T> wide(T value) {
  return static_cast<Wide<T>>(value);  // NOLINT(bugprone-signed-char-misuse): its sign counts, as the bits that wrap
}

// Computes kColumns elements of a row of C in vectors; the elements of B are contiguous too. `a` is the row, `b` and
// `c` start at the columns.
template <std::int64_t kColumns, class T>
void multiply_columns(const Product& p, const T* a, const T* b, T* c) {
  Wide<T> sums[kColumns];
  for (std::int64_t i = 0; i < kColumns; ++i) sums[i] = p.accumulate ? wide(c[i]) : Wide<T>{0};
  for (std::int64_t inner = 0; inner < p.inner; ++inner) {
    const auto factor = wide(a[inner * p.a_column]);
    const T* row = b + inner * p.b_row;
    for (std::int64_t i = 0; i < kColumns; ++i) sums[i] += factor * wide(row[i]);
  }
  for (std::int64_t i = 0; i < kColumns; ++i) c[i] = static_cast<T>(sums[i]);
}

// Computes one element, summing in the same order.
template <class T>
void multiply_one(const Product& p, const T* a, const T* b, T* c) {
  Wide<T> sum = p.accumulate ? wide(*c) : Wide<T>{0};
  for (std::int64_t inner = 0; inner < p.inner; ++inner) {
    sum += wide(a[inner * p.a_column]) * wide(b[inner * p.b_row]);
  }
  *c = static_cast<T>(sum);
}

template <class T>
void multiply(const Product& p) {
  for (std::int64_t row = 0; row < p.rows; ++row) {
    const T* a = static_cast<const T*>(p.a) + row * p.a_row;
    const T* b = static_cast<const T*>(p.b);
    T* c = static_cast<T*>(p.c) + row * p.c_row;
    std::int64_t column = 0;
    if (p.b_column == 1) {
      for (; column + 16 <= p.columns; column += 16) multiply_columns<16>(p, a, b + column, c + column);
      for (; column + 4 <= p.columns; column += 4) multiply_columns<4>(p, a, b + column, c + column);
    }
    for (; column < p.columns; ++column) multiply_one(p, a, b + column * p.b_column, c + column);
  }
}

}  // namespace

#define DISTRUN_JOIN(a, b) a##b
#define DISTRUN_NAMED(prefix, set) DISTRUN_JOIN(prefix, set)

extern const LoopProducts DISTRUN_NAMED(loop_products_, DISTRUN_KERNEL_SET);
constexpr LoopProducts DISTRUN_NAMED(loop_products_, DISTRUN_KERNEL_SET) = {
    {nullptr, &multiply<std::uint8_t>, &multiply<std::int8_t>, &multiply<std::int16_t>, &multiply<std::int32_t>,
     &multiply<std::int64_t>, &multiply<float>, &multiply<double>}};

}  // namespace distrun::tensor::kernels

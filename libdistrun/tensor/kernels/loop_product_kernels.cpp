// Products of matrices by plain loops: of integers, for which nobody waits, and of small floating ones, for which Eigen
// takes longer to begin than these to end, and where its last bits depend on the address of the result. Built once for
// each instruction set, with DISTRUN_KERNEL_SET as its name; sums are in order and nothing is fused, so all give the
// same numbers. Integers wrap.
#include <distrun/tensor/kernels/table.hpp>

namespace distrun::tensor::kernels {
namespace {

constexpr std::int64_t kColumns = 64;  // sums that are on their way at a time

template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, T,
                                std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;

// Some columns of one row of C. `a` is the row; `b` and `c` begin at the first of the columns.
template <class T>
void multiply_row(const Product& p, const T* a, const T* b, T* c, std::int64_t columns) {
  Wide<T> sums[kColumns];
  for (std::int64_t i = 0; i < columns; ++i) sums[i] = p.accumulate ? static_cast<Wide<T>>(c[i]) : Wide<T>{0};
  for (std::int64_t inner = 0; inner < p.inner; ++inner) {
    const auto factor = static_cast<Wide<T>>(a[inner * p.a_column]);
    const T* row = b + inner * p.b_row;
    if (p.b_column == 1) {
      for (std::int64_t i = 0; i < columns; ++i) sums[i] += factor * static_cast<Wide<T>>(row[i]);
    } else {
      for (std::int64_t i = 0; i < columns; ++i) sums[i] += factor * static_cast<Wide<T>>(row[i * p.b_column]);
    }
  }
  for (std::int64_t i = 0; i < columns; ++i) c[i] = static_cast<T>(sums[i]);
}

template <class T>
void multiply(const Product& p) {
  for (std::int64_t row = 0; row < p.rows; ++row) {
    const T* a = static_cast<const T*>(p.a) + row * p.a_row;
    for (std::int64_t first = 0; first < p.columns; first += kColumns) {
      const std::int64_t columns = p.columns - first < kColumns ? p.columns - first : kColumns;
      multiply_row(p, a, static_cast<const T*>(p.b) + first * p.b_column, static_cast<T*>(p.c) + row * p.c_row + first,
                   columns);
    }
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

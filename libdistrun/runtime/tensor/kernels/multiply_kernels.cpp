// Products of floating matrices with Eigen. Built once for each instruction set, with DISTRUN_KERNEL_SET as its name,
// which also renames Eigen's namespace, so that the linker does not mix functions of different sets.
#define DISTRUN_JOIN(a, b) a##b
#define DISTRUN_NAMED(prefix, set) DISTRUN_JOIN(prefix, set)
#define Eigen DISTRUN_NAMED(eigen_, DISTRUN_KERNEL_SET)
#define EIGEN_DONT_PARALLELIZE
// Disables Eigen's loops for small products: the order of their sums depends on addresses.
#define EIGEN_GEMM_TO_COEFFBASED_THRESHOLD 1
#define EIGEN_NO_DEBUG
#include <Eigen/Core>

#include <distrun/runtime/tensor/kernels/table.hpp>

namespace distrun::tensor::kernels {
namespace {

template <class T, int Order>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>;
template <class T, int Order>
using Block = Eigen::Map<Matrix<T, Order>, Eigen::Unaligned, Eigen::OuterStride<>>;
template <class T, int Order>
using ConstBlock = Eigen::Map<const Matrix<T, Order>, Eigen::Unaligned, Eigen::OuterStride<>>;

template <class T, int AOrder, int BOrder>
void multiply_in_order(const Product& p) {
  constexpr int kRowMajor = Eigen::RowMajor;
  const ConstBlock<T, AOrder> a(static_cast<const T*>(p.a), p.rows, p.inner,
                                Eigen::OuterStride<>(AOrder == kRowMajor ? p.a_row : p.a_column));
  const ConstBlock<T, BOrder> b(static_cast<const T*>(p.b), p.inner, p.columns,
                                Eigen::OuterStride<>(BOrder == kRowMajor ? p.b_row : p.b_column));
  Block<T, kRowMajor> c(static_cast<T*>(p.c), p.rows, p.columns, Eigen::OuterStride<>(p.c_row));
  if (p.accumulate) {
    c.noalias() += a * b;
  } else {
    c.noalias() = a * b;
  }
}

template <class T>
void multiply(const Product& p) {
  const bool is_a_by_row = p.a_column == 1;
  const bool is_b_by_row = p.b_column == 1;
  if (is_a_by_row && is_b_by_row) return multiply_in_order<T, Eigen::RowMajor, Eigen::RowMajor>(p);
  if (is_a_by_row) return multiply_in_order<T, Eigen::RowMajor, Eigen::ColMajor>(p);
  if (is_b_by_row) return multiply_in_order<T, Eigen::ColMajor, Eigen::RowMajor>(p);
  return multiply_in_order<T, Eigen::ColMajor, Eigen::ColMajor>(p);
}

}  // namespace

extern const Multiply DISTRUN_NAMED(multiply_f32_, DISTRUN_KERNEL_SET);
constexpr Multiply DISTRUN_NAMED(multiply_f32_, DISTRUN_KERNEL_SET) = &multiply<float>;
extern const Multiply DISTRUN_NAMED(multiply_f64_, DISTRUN_KERNEL_SET);
constexpr Multiply DISTRUN_NAMED(multiply_f64_, DISTRUN_KERNEL_SET) = &multiply<double>;

}  // namespace distrun::tensor::kernels

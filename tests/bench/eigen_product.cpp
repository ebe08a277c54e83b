#define EIGEN_DONT_PARALLELIZE
#define EIGEN_NO_DEBUG
// Renamed, so that the linker does not mix in functions for other instruction sets.
#define Eigen eigen_native
#include <Eigen/Core>

#include "eigen_product.hpp"

namespace distrun::bench {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

void multiply_with_eigen(float* c, const float* a, const float* b, std::int64_t size) {
  Eigen::Map<Matrix>(c, size, size).noalias() =
      Eigen::Map<const Matrix>(a, size, size) * Eigen::Map<const Matrix>(b, size, size);
}

void triad(float* __restrict c, const float* __restrict a, const float* __restrict b, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) c[i] = a[i] + b[i];
}

}  // namespace distrun::bench

#pragma once
// How tests compare tensors, and the words in which they say what differs.
#include <optional>
#include <string>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// Two numbers are close if they differ by at most absolute + relative |expected|. Equal infinities are close.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};
// What people of the field allow: float32 1.3e-6 and 1e-5, float64 1e-7 both, the others nothing.
Tolerance tolerance_of(DType dtype) noexcept;

struct CompareOptions {
  std::optional<Tolerance> tolerance;  // none: that of the dtype
  bool equal_nan = true;               // not a number is close to not a number
  bool check_dtype = true;
  bool check_device = false;
};

// Nothing if sizes, layout, dtype and all elements agree; else what differs, as "2 of 6 elements differ by more than
// 1e-05 + 1.3e-06 |expected|; the first at [0, 1]: 1.5, expected 2; ...". Sparse ones are compared after coalescing.
// Waits for the devices; the tensors may be on different ones.
std::optional<std::string> difference(const Tensor& actual, const Tensor& expected, const CompareOptions& options = {});
bool is_close(const Tensor& actual, const Tensor& expected, const CompareOptions& options = {});

// Whether all elements differ by at most atol + rtol |other|, after broadcasting. Throws Error{InvalidArgument} if the
// dtypes differ, the sizes do not broadcast, or a tensor is sparse or undefined.
bool allclose(const Tensor& input, const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);

// What DISTRUN_EXPECT_CLOSE tells: the worst elements, each on a line with its index; empty if nothing differs. As
// difference(), but not-a-number is close to nothing.
std::string check_close(const Tensor& actual, const Tensor& expected, double rtol, double atol);

}  // namespace distrun::tensor

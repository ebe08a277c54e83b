#pragma once
// Compares tensors in tests, and describes the differences.
#include <optional>
#include <string>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// Two numbers are close if they differ by at most absolute + relative |expected|. Equal infinities are close.
struct Tolerance {
  double relative = 0;  // rtol, times |expected|
  double absolute = 0;  // atol
};
// The usual defaults: 1.3e-6 and 1e-5 for float32, 1e-7 for both with float64, and 0 for the others.
Tolerance tolerance_of(DType dtype) noexcept;

// What difference() and is_close() compare.
struct CompareOptions {
  std::optional<Tolerance> tolerance;  // none: default of the dtype
  bool equal_nan = true;               // NaN equals NaN
  bool check_dtype = true;             // dtypes must be the same
  bool check_device = false;           // devices must be the same
};

// Returns nothing if sizes, layout, dtype and all elements agree; otherwise the differences, such as "2 of 6 elements
// differ by more than 1e-05 + 1.3e-06 |expected|; the first at [0, 1]: 1.5, expected 2; ...". Coalesces sparse tensors
// first. Waits for the devices; the tensors may be on different ones.
std::optional<std::string> difference(const Tensor& actual, const Tensor& expected, const CompareOptions& options = {});
// Returns whether difference() returns nothing.
bool is_close(const Tensor& actual, const Tensor& expected, const CompareOptions& options = {});

// Returns whether all elements differ by at most atol + rtol |other|, after broadcasting. Throws Error{InvalidArgument}
// if the dtypes differ, the sizes do not broadcast, or a tensor is sparse or undefined.
bool allclose(const Tensor& input, const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);

// Returns the text of DISTRUN_EXPECT_CLOSE: the worst elements, one per line with its index; empty if nothing differs.
// Like difference(), but NaN is never close.
std::string check_close(const Tensor& actual, const Tensor& expected, double rtol, double atol);

}  // namespace distrun::tensor

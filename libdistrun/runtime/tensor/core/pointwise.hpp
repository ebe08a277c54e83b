#pragma once
// Shared by all elementwise operators: constants in the kernels' dtype, and one way to run a kernel over tensors that
// are broadcast to the output.
#include <cstring>

#include <distrun/runtime/device/elementwise.hpp>
#include <distrun/runtime/tensor/core/scalar.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>
#include <distrun/runtime/tensor/kernels/table.hpp>

namespace distrun::tensor {

// A number stored in place as an element of a dtype.
class Constant {
 public:
  Constant() noexcept = default;
  Constant(const Scalar& value, DType dtype) noexcept : dtype_(dtype) {
    visit(dtype, [this, &value](auto zero) {
      const auto element = value.to<decltype(zero)>();
      std::memcpy(number_.bytes.data(), &element, sizeof element);
    });
  }
  const void* address() const noexcept { return number_.bytes.data(); }
  const device::Number& number() const noexcept { return number_; }
  DType dtype() const noexcept { return dtype_; }

 private:
  device::Number number_;
  DType dtype_ = DType::Bool;
};

// A tensor, or a constant instead of one.
struct PointwiseInput {
  PointwiseInput(const Tensor& tensor_) : tensor(&tensor_.strided()) {}
  PointwiseInput(Constant constant_) : constant(constant_) {}

  const StridedImpl* tensor = nullptr;
  Constant constant;
};

// The kernel that runs over the elements.
struct PointwiseKernel {
  const char* name;       // the operator's name, for reports
  const char* operation;  // the operation's name (runtime/device/elementwise.hpp)
  kernels::Run run;
};
PointwiseKernel copy_kernel(DType from, DType to);

// Computes out[i] = run(inputs[i]...). Inputs have the dtypes that `run` expects, and are broadcast to the output's
// sizes; all are on the output's device, and at least one is a tensor. An input that overlaps the output in memory
// other than element by element must be copied before: see apart() (copy.hpp).
void pointwise(const PointwiseKernel& kernel, const Tensor& out, const PointwiseInput& a, const Constant& parameter);
void pointwise(const PointwiseKernel& kernel, const Tensor& out, const PointwiseInput& a, const PointwiseInput& b,
               const Constant& parameter);
void pointwise(const PointwiseKernel& kernel, const Tensor& out, const PointwiseInput& a, const PointwiseInput& b,
               const PointwiseInput& c, const Constant& parameter);
void fill_pointwise(const Tensor& out, const Constant& value);

// Checks the output of an in-place operator. Throws Error{InvalidArgument} if several elements share memory, as in an
// expanded tensor.
void check_writable(const char* op, const Tensor& out);

}  // namespace distrun::tensor

#include <distrun/runtime/tensor/operators/arithmetic.hpp>

#include <iterator>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/promotion.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>

namespace distrun::tensor {
namespace {

DType floating(DType dtype) noexcept { return is_floating(dtype) ? dtype : DType::F32; }

[[noreturn]] void refuse_dtype(const char* op, DType dtype) {
  refuse(op, "not for elements of " + std::string(name_of(dtype)), {});
}

// What drivers know the kernels by (runtime/device/elementwise.hpp), in the order of kernels/table.hpp.
constexpr const char* kUnaryNames[] = {"neg", "cos", "sin", "sigmoid", "clamp_min", "sqrt"};
constexpr const char* kBinaryNames[] = {
    "add", "mul", "div", "sigmoid_backward", "threshold_backward", "clamp_min_backward", "maximum"};
constexpr const char* kComparisonNames[] = {"eq", "ne", "lt", "le", "gt", "ge"};
static_assert(std::size(kUnaryNames) == kernels::kUnaryCount);
static_assert(std::size(kBinaryNames) == kernels::kBinaryCount);
static_assert(std::size(kComparisonNames) == kernels::kComparisonCount);

PointwiseKernel kernel_of(const BinaryOp& op, DType dtype) {
  const int kernel = static_cast<int>(op.kernel);
  const kernels::Run run = kernels::table().binary->run[kernel][static_cast<int>(dtype)];
  if (run == nullptr) refuse_dtype(op.name, dtype);
  return {op.name, kBinaryNames[kernel], run};
}
PointwiseKernel kernel_of(const ComparisonOp& op, DType dtype) {
  const int kernel = static_cast<int>(op.kernel);
  return {op.name, kComparisonNames[kernel], kernels::table().binary->compare[kernel][static_cast<int>(dtype)]};
}
PointwiseKernel kernel_of(const UnaryOp& op, DType dtype) {
  const int kernel = static_cast<int>(op.kernel);
  const kernels::Run run = kernels::table().unary->run[kernel][static_cast<int>(dtype)];
  if (run == nullptr) refuse_dtype(op.name, dtype);
  return {op.name, kUnaryNames[kernel], run};
}

void check(const char* op, const Tensor& a) {
  check_defined(op, {&a});
  check_dense(op, {&a});
}

// A tensor of the CPU without dimensions goes along with tensors of any device, as a number does.
bool is_number_beside(const Tensor& number, const Tensor& other) {
  return number.dim() == 0 && number.device().is_cpu() && !other.device().is_cpu();
}

void check_dtype_fits(const char* op, DType result, const Tensor& out) {
  const auto kind = [](DType dtype) { return dtype == DType::Bool ? 0 : is_integral(dtype) ? 1 : 2; };
  if (kind(result) <= kind(out.dtype())) return;
  refuse(op, "result type " + std::string(name_of(result)) + " can't be cast to the output's", {&out});
}

void check_sizes_fit(const char* op, const Dims& result, const Tensor& out) {
  if (result == out.sizes()) return;
  refuse(op, "the output's sizes don't match the broadcast sizes " + to_string(result), {&out});
}

// Into an output of the result's dtype at once, else through a temporary.
template <class Fill>
void run_into(const Tensor& out, DType dtype, Fill fill) {
  if (out.dtype() == dtype) return fill(out);
  const Tensor result = empty(out.sizes(), {dtype, out.device()});
  fill(result);
  pointwise(copy_kernel(dtype, out.dtype()), out, result, Constant());
}

Tensor run_unary(const UnaryOp& op, const Tensor& a, DType dtype, const Scalar& parameter) {
  const PointwiseKernel kernel = kernel_of(op, dtype);
  Tensor out = empty(a.sizes(), {dtype, a.device()});
  pointwise(kernel, out, to(a, dtype), Constant(parameter, dtype));
  return out;
}

DType dtype_of_result(const BinaryOp& op, DType common) { return op.needs_floating ? floating(common) : common; }

}  // namespace

Tensor binary(const BinaryOp& op, const Tensor& a, const Tensor& b, const Scalar& parameter) {
  check(op.name, a);
  check(op.name, b);
  const DType dtype = dtype_of_result(op, result_type(a, b));
  const PointwiseKernel kernel = kernel_of(op, dtype);
  if (is_number_beside(a, b)) return binary(op, to(a, dtype).item(), to(b, dtype), parameter);
  if (is_number_beside(b, a)) return binary(op, to(a, dtype), to(b, dtype).item(), parameter);
  check_same_device(op.name, {&a, &b});
  const bool is_same_size = a.sizes() == b.sizes();
  Tensor out = empty(is_same_size ? a.sizes() : broadcast(op.name, a, b), {dtype, a.device()});
  if (a.dtype() == dtype && b.dtype() == dtype) [[likely]] {
    pointwise(kernel, out, a, b, Constant(parameter, dtype));
  } else {
    pointwise(kernel, out, to(a, dtype), to(b, dtype), Constant(parameter, dtype));
  }
  return out;
}

Tensor binary(const BinaryOp& op, const Tensor& a, const Scalar& b, const Scalar& parameter) {
  check(op.name, a);
  const DType dtype = dtype_of_result(op, result_type(a, b));
  Tensor out = empty(a.sizes(), {dtype, a.device()});
  pointwise(kernel_of(op, dtype), out, to(a, dtype), Constant(b, dtype), Constant(parameter, dtype));
  return out;
}

Tensor binary(const BinaryOp& op, const Scalar& a, const Tensor& b, const Scalar& parameter) {
  check(op.name, b);
  const DType dtype = dtype_of_result(op, result_type(b, a));
  Tensor out = empty(b.sizes(), {dtype, b.device()});
  pointwise(kernel_of(op, dtype), out, Constant(a, dtype), to(b, dtype), Constant(parameter, dtype));
  return out;
}

void binary_(const BinaryOp& op, const Tensor& a, const Tensor& b, const Scalar& parameter) {
  check(op.name, a);
  check(op.name, b);
  const DType dtype = dtype_of_result(op, result_type(a, b));
  check_dtype_fits(op.name, dtype, a);
  if (is_number_beside(b, a)) return binary_(op, a, b.item(), parameter);
  check_same_device(op.name, {&a, &b});
  if (a.sizes() != b.sizes()) check_sizes_fit(op.name, broadcast(op.name, a, b), a);
  check_writable(op.name, a);
  run_into(a, dtype, [&](const Tensor& out) {
    pointwise(kernel_of(op, dtype), out, to(a, dtype), to(apart(b, a), dtype), Constant(parameter, dtype));
  });
  a.bump_version();
}

void binary_(const BinaryOp& op, const Tensor& a, const Scalar& b, const Scalar& parameter) {
  check(op.name, a);
  const DType dtype = dtype_of_result(op, result_type(a, b));
  check_dtype_fits(op.name, dtype, a);
  check_writable(op.name, a);
  run_into(a, dtype, [&](const Tensor& out) {
    pointwise(kernel_of(op, dtype), out, to(a, dtype), Constant(b, dtype), Constant(parameter, dtype));
  });
  a.bump_version();
}

Tensor compare(const ComparisonOp& op, const Tensor& a, const Tensor& b) {
  check(op.name, a);
  check(op.name, b);
  if (is_number_beside(b, a)) return compare(op, a, b.item());
  check_same_device(op.name, {&a, &b});
  const DType dtype = result_type(a, b);
  Tensor out = empty(broadcast(op.name, a, b), {DType::Bool, a.device()});
  pointwise(kernel_of(op, dtype), out, to(a, dtype), to(b, dtype), Constant());
  return out;
}

Tensor compare(const ComparisonOp& op, const Tensor& a, const Scalar& b) {
  check(op.name, a);
  const DType dtype = result_type(a, b);
  Tensor out = empty(a.sizes(), {DType::Bool, a.device()});
  pointwise(kernel_of(op, dtype), out, to(a, dtype), Constant(b, dtype), Constant());
  return out;
}

Tensor unary(const UnaryOp& op, const Tensor& a) {
  check(op.name, a);
  return run_unary(op, a, op.needs_floating ? floating(a.dtype()) : a.dtype(), 0);
}

Tensor unary(const UnaryOp& op, const Tensor& a, const Scalar& parameter) {
  check(op.name, a);
  return run_unary(op, a, result_type(a, parameter), parameter);
}

}  // namespace distrun::tensor

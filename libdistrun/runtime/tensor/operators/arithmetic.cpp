#include <distrun/runtime/tensor/operators/arithmetic.hpp>

#include <iterator>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/promotion.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>

namespace distrun::tensor {
namespace {

DType floating(DType dtype) noexcept { return is_floating(dtype) ? dtype : DType::F32; }

[[noreturn]] void refuse_dtype(const char* op, DType dtype) {
  refuse(op, "not for elements of " + std::string(name_of(dtype)), {});
}

// The drivers' names of the kernels (runtime/device/elementwise.hpp), in the order of kernels/table.hpp.
constexpr const char* kUnaryNames[] = {"neg",   "cos", "sin", "sigmoid", "clamp_min", "clamp_max", "sqrt",
                                       "rsqrt", "exp", "log", "tanh",    "abs",       "cube"};
constexpr const char* kBinaryNames[] = {"add",
                                        "mul",
                                        "div",
                                        "sigmoid_backward",
                                        "threshold_backward",
                                        "clamp_min_backward",
                                        "clamp_max_backward",
                                        "tanh_backward",
                                        "abs_backward",
                                        "maximum",
                                        "minimum",
                                        "pow"};
constexpr const char* kChoiceNames[] = {"where", "dropout", "clamp", "maximum_backward", "minimum_backward"};
constexpr const char* kComparisonNames[] = {"eq", "ne", "lt", "le", "gt", "ge"};
static_assert(std::size(kUnaryNames) == kernels::kUnaryCount);
static_assert(std::size(kBinaryNames) == kernels::kBinaryCount);
static_assert(std::size(kChoiceNames) == kernels::kChoiceCount);
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
PointwiseKernel kernel_of(const ChoiceOp& op, DType dtype) {
  const int kernel = static_cast<int>(op.kernel);
  const kernels::Run run = kernels::table().choice->run[kernel][static_cast<int>(dtype)];
  if (run == nullptr) refuse_dtype(op.name, dtype);
  return {op.name, kChoiceNames[kernel], run};
}

void check(const char* op, const Tensor& a) {
  check_defined(op, {&a});
  check_dense(op, {&a});
}

// A CPU tensor without dimensions combines with tensors of any device, as a number does.
bool is_number_beside(const Tensor& number, const Tensor& other) {
  return number.dim() == 0 && number.device().is_cpu() && !other.device().is_cpu();
}

// An input converted to that dtype; a constant if it only acts as a number for the other input.
class InputBeside {
 public:
  InputBeside(const Tensor& given, const Tensor& other, DType dtype)
      : tensor_(to(given, dtype)), is_number_(is_number_beside(given, other)) {}
  PointwiseInput input() const {
    return is_number_ ? PointwiseInput(Constant(tensor_.item(), tensor_.dtype())) : PointwiseInput(tensor_);
  }

 private:
  const Tensor tensor_;
  const bool is_number_;
};

void check_sizes_fit(const char* op, const Dims& result, const Tensor& out) {
  if (result == out.sizes()) return;
  refuse(op, "the output's sizes don't match the broadcast sizes " + to_string(result), {&out});
}

// Fills an output of the result's dtype directly, others through a temporary.
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

void run_unary_(const UnaryOp& op, const Tensor& a, DType dtype, const Scalar& parameter) {
  const PointwiseKernel kernel = kernel_of(op, dtype);
  check_castable(op.name, dtype, a);
  check_writable(op.name, a);
  run_into(a, dtype, [&](const Tensor& out) { pointwise(kernel, out, to(a, dtype), Constant(parameter, dtype)); });
  a.bump_version();
}

DType dtype_of_result(const UnaryOp& op, const Tensor& a) {
  return op.needs_floating ? floating(a.dtype()) : a.dtype();
}

// An input of a choice, on the other inputs' device and in the dtype that the kernel expects.
class ChoiceInput {
 public:
  ChoiceInput(const char* op, const TensorOrNumber& given, const Tensor& first, DType dtype) : number_(given.number) {
    if (given.tensor == nullptr) return;
    check(op, *given.tensor);
    if (is_number_beside(*given.tensor, first)) {
      number_ = given.tensor->item();
    } else {
      check_same_device(op, {&first, given.tensor});
      tensor_ = to(*given.tensor, dtype);
    }
  }

  void stretch(const char* op, Dims& sizes, const Tensor& first) const {
    if (tensor_.defined() && tensor_.sizes() != sizes) sizes = broadcast(op, expand(first, sizes), tensor_);
  }
  PointwiseInput input(DType dtype) const {
    return tensor_.defined() ? PointwiseInput(tensor_) : PointwiseInput(Constant(number_, dtype));
  }

 private:
  Tensor tensor_;
  Scalar number_;
};

// Integers are compared exactly, also with a tensor without dimensions; in a sum its value would wrap.
DType dtype_to_compare(const Tensor& a, const Tensor& b) noexcept {
  return is_floating(a.dtype()) || is_floating(b.dtype()) ? result_type(a, b) : promote(a.dtype(), b.dtype());
}

// Returns the result for any two different numbers, given whether the first is below the second.
bool is_true(kernels::Comparison comparison, bool is_below) noexcept {
  switch (comparison) {
    case kernels::Comparison::Eq: return false;
    case kernels::Comparison::Ne: return true;
    case kernels::Comparison::Lt:
    case kernels::Comparison::Le: return is_below;
    case kernels::Comparison::Gt:
    case kernels::Comparison::Ge: break;
  }
  return !is_below;
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
  check_castable(op.name, dtype, a);
  if (!is_number_beside(b, a)) check_same_device(op.name, {&a, &b});
  if (a.sizes() != b.sizes()) check_sizes_fit(op.name, broadcast(op.name, a, b), a);
  check_writable(op.name, a);
  run_into(a, dtype, [&](const Tensor& out) {
    const InputBeside other(apart(b, a), a, dtype);
    pointwise(kernel_of(op, dtype), out, to(a, dtype), other.input(), Constant(parameter, dtype));
  });
  a.bump_version();
}

void binary_(const BinaryOp& op, const Tensor& a, const Scalar& b, const Scalar& parameter) {
  check(op.name, a);
  const DType dtype = dtype_of_result(op, result_type(a, b));
  check_castable(op.name, dtype, a);
  check_writable(op.name, a);
  run_into(a, dtype, [&](const Tensor& out) {
    pointwise(kernel_of(op, dtype), out, to(a, dtype), Constant(b, dtype), Constant(parameter, dtype));
  });
  a.bump_version();
}

Tensor compare(const ComparisonOp& op, const Tensor& a, const Tensor& b) {
  check(op.name, a);
  check(op.name, b);
  const bool is_number_first = is_number_beside(a, b);
  if (!is_number_first && !is_number_beside(b, a)) check_same_device(op.name, {&a, &b});
  const DType dtype = dtype_to_compare(a, b);
  Tensor out = empty(broadcast(op.name, a, b), {DType::Bool, is_number_first ? b.device() : a.device()});
  const InputBeside first(a, b, dtype), second(b, a, dtype);
  pointwise(kernel_of(op, dtype), out, first.input(), second.input(), Constant());
  return out;
}

Tensor compare(const ComparisonOp& op, const Tensor& a, const Scalar& b) {
  check(op.name, a);
  const DType dtype = result_type(a, b);
  if (!is_floating(dtype) && !fits(b, dtype)) {
    const bool is_below = b.to<std::int64_t>() > 0;  // for all elements
    return full(a.sizes(), is_true(op.kernel, is_below), {DType::Bool, a.device()});
  }
  Tensor out = empty(a.sizes(), {DType::Bool, a.device()});
  pointwise(kernel_of(op, dtype), out, to(a, dtype), Constant(b, dtype), Constant());
  return out;
}

Tensor unary(const UnaryOp& op, const Tensor& a) {
  check(op.name, a);
  return run_unary(op, a, dtype_of_result(op, a), 0);
}

Tensor unary(const UnaryOp& op, const Tensor& a, const Scalar& parameter) {
  check(op.name, a);
  return run_unary(op, a, result_type(a, parameter), parameter);
}

void unary_(const UnaryOp& op, const Tensor& a) {
  check(op.name, a);
  run_unary_(op, a, dtype_of_result(op, a), 0);
}

void unary_(const UnaryOp& op, const Tensor& a, const Scalar& parameter) {
  check(op.name, a);
  run_unary_(op, a, result_type(a, parameter), parameter);
}

Tensor choice(const ChoiceOp& op, const Tensor& first, const TensorOrNumber& second, const TensorOrNumber& third,
              DType dtype) {
  check(op.name, first);
  const PointwiseKernel kernel = kernel_of(op, dtype);
  const ChoiceInput b(op.name, second, first, dtype), c(op.name, third, first, dtype);
  Dims sizes = first.sizes();
  b.stretch(op.name, sizes, first);
  c.stretch(op.name, sizes, first);
  Tensor out = empty(sizes, {dtype, first.device()});
  pointwise(kernel, out, to(first, op.has_condition ? DType::Bool : dtype), b.input(dtype), c.input(dtype), Constant());
  return out;
}

void choice_(const ChoiceOp& op, const Tensor& first, const Scalar& second, const Scalar& third, DType dtype) {
  check(op.name, first);
  const PointwiseKernel kernel = kernel_of(op, dtype);
  check_castable(op.name, dtype, first);
  check_writable(op.name, first);
  run_into(first, dtype, [&](const Tensor& out) {
    pointwise(kernel, out, to(first, dtype), Constant(second, dtype), Constant(third, dtype), Constant());
  });
  first.bump_version();
}

}  // namespace distrun::tensor

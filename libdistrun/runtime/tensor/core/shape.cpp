#include <distrun/runtime/tensor/core/shape.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/core/called_operator.hpp>

namespace distrun::tensor {

void refuse_index(const char* op, std::int64_t index, std::size_t dim, const Tensor& tensor) {
  refuse(op,
         "index " + std::to_string(index) + " is out of bounds for dimension " + std::to_string(dim) + " with size " +
             std::to_string(tensor.sizes()[dim]),
         {&tensor});
}

Dims broadcast(const char* op, const Tensor& a, const Tensor& b) {
  const Dims& longer = a.dim() >= b.dim() ? a.sizes() : b.sizes();
  const Dims& shorter = a.dim() >= b.dim() ? b.sizes() : a.sizes();
  const std::size_t shift = longer.size() - shorter.size();
  Dims sizes = longer;
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& size = sizes[i + shift];
    if (size == shorter[i] || shorter[i] == 1) continue;
    if (size == 1) {
      size = shorter[i];
      continue;
    }
    const std::int64_t of_a = a.dim() >= b.dim() ? size : shorter[i];
    const std::int64_t of_b = a.dim() >= b.dim() ? shorter[i] : size;
    refuse(op,
           "the size of tensor a (" + std::to_string(of_a) + ") must match the size of tensor b (" +
               std::to_string(of_b) + ") at non-singleton dimension " + std::to_string(i + shift),
           {&a, &b});
  }
  return sizes;
}

std::int64_t sum_of_sizes(const char* op, std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  refuse(op, "sizes " + std::to_string(a) + " and " + std::to_string(b) + " overflow in sum", {});
}

bool is_expandable(const Dims& from, const Dims& to) noexcept {
  if (from.size() > to.size()) return false;
  const std::size_t shift = to.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != to[i + shift] && from[i] != 1) return false;
  }
  return true;
}

void check_defined(const char* op, std::initializer_list<const Tensor*> tensors) {
  for (const Tensor* tensor : tensors) {
    if (!tensor->defined()) refuse(op, "a tensor is required, but one is undefined", {});
  }
}

void check_same_device(const char* op, std::initializer_list<const Tensor*> tensors) {
  const Device first = (*tensors.begin())->device();
  for (const Tensor* tensor : tensors) {
    if (tensor->device() == first) continue;
    throw Error(ErrorKind::InvalidArgument, "RuntimeError",
                with_name(op, "Expected all tensors to be on the same device, but found at least two devices, " +
                                  to_string(first) + " and " + to_string(tensor->device()) + "!"));
  }
}

void check_same_dtype(const char* op, const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype()) refuse(op, "both tensors must have the same dtype", {&a, &b});
}

void check_floating(const char* op, const Tensor& tensor) {
  if (!is_floating(tensor.dtype())) refuse(op, "a floating dtype is required", {&tensor});
}

void check_fits(const char* op, const Scalar& number, DType dtype) {
  if (dtype == DType::Bool || dtype == DType::F64 || fits(number, dtype)) return;
  refuse(op, to_string(number) + " does not fit " + std::string(name_of(dtype)), {});
}

void check_dense(const char* op, std::initializer_list<const Tensor*> tensors) {
  for (const Tensor* tensor : tensors) {
    if (tensor->is_sparse()) refuse(op, "sparse tensors are not supported; call to_dense() first", {tensor});
  }
}

void check_like(const char* op, const Tensor& gradient, const Tensor& tensor) {
  check_defined(op, {&gradient, &tensor});
  check_dense(op, {&gradient});
  check_same_dtype(op, gradient, tensor);
  check_same_device(op, {&gradient, &tensor});
  if (gradient.sizes() != tensor.sizes()) refuse(op, "the sizes differ", {&gradient, &tensor});
}

void check_rank(const char* op, const Tensor& tensor, std::size_t rank) {
  if (tensor.sizes().size() == rank) return;
  refuse(op, "a tensor with " + std::to_string(rank) + " dimensions is needed", {&tensor});
}

}  // namespace distrun::tensor

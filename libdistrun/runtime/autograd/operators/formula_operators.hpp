#pragma once
// Operators for formulas: plain ones, or recorded ones in a pass with create_graph. A formula written with these needs
// no other for gradients of gradients. Formulas with separate kernels use with_slopes() or linear_map(), or express
// their result in recorded operators.
//
// The recorded operators are themselves built from formulas: chosen_operators.cpp defines these functions, so that no
// two files include each other.
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/linear_map.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::autograd::formula {

Tensor add(const Tensor& a, const Tensor& b);
Tensor add(const Tensor& a, const Scalar& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Scalar& b);
Tensor rsub(const Scalar& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Scalar& b);
Tensor div(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Scalar& b);
Tensor rdiv(const Scalar& a, const Tensor& b);
Tensor neg(const Tensor& a);
Tensor square(const Tensor& a);
Tensor rsqrt(const Tensor& a);
Tensor exp(const Tensor& a);
Tensor log(const Tensor& a);
Tensor sin(const Tensor& a);
Tensor cos(const Tensor& a);
Tensor pow(const Tensor& a, const Tensor& b);
Tensor pow(const Tensor& a, const Scalar& b);
Tensor where(const Tensor& condition, const Tensor& a, const Scalar& b);
Tensor where(const Tensor& condition, const Scalar& a, const Tensor& b);

Tensor sum(const Tensor& a, const Dims& dims, bool keep_dims = false);
Tensor mean(const Tensor& a, const Dims& dims, bool keep_dims = false);

Tensor mm(const Tensor& a, const Tensor& b);
Tensor matmul(const Tensor& a, const Tensor& b);

Tensor t(const Tensor& a);
Tensor transpose(const Tensor& a, std::int64_t first, std::int64_t second);
Tensor permute(const Tensor& a, const Dims& order);
Tensor reshape(const Tensor& a, const Dims& sizes);
Tensor expand(const Tensor& a, const Dims& sizes);
Tensor squeeze(const Tensor& a, std::int64_t dim);
Tensor unsqueeze(const Tensor& a, std::int64_t dim);
Tensor narrow(const Tensor& a, std::int64_t dim, std::int64_t start, std::int64_t length);
Tensor select(const Tensor& a, std::int64_t dim, std::int64_t index);

// Runs a kernel that is linear in the gradient, with slopes that stay constant under small changes of the operands.
template <class Kernel>
Tensor with_slopes(const Tensor& gradient, Kernel kernel) {
  if (!is_grad_enabled()) return kernel(gradient);
  return mul(gradient, kernel(tensor::ones_like(gradient)));
}

// Called by formulas that can't be recorded.
inline void refuse_recording(const Node& node, const char* why) {
  if (!is_grad_enabled()) return;
  throw Error(ErrorKind::Unimplemented, node.name() + ": there are no gradients of gradients (create_graph) " + why);
}

}  // namespace distrun::autograd::formula

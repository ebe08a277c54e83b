// The operators of formulas.
#include <distrun/runtime/autograd/operators/elementwise.hpp>
#include <distrun/runtime/autograd/operators/formula_operators.hpp>
#include <distrun/runtime/autograd/operators/products.hpp>
#include <distrun/runtime/autograd/operators/reduce.hpp>
#include <distrun/runtime/autograd/operators/views.hpp>

#define EITHER(call) is_grad_enabled() ? distrun::call : tensor::call

namespace distrun::autograd::formula {

// clang-format off
Tensor add(const Tensor& a, const Tensor& b) { return EITHER(add(a, b)); }
Tensor add(const Tensor& a, const Scalar& b) { return EITHER(add(a, b)); }
Tensor sub(const Tensor& a, const Tensor& b) { return EITHER(sub(a, b)); }
Tensor sub(const Tensor& a, const Scalar& b) { return EITHER(sub(a, b)); }
Tensor rsub(const Scalar& a, const Tensor& b) { return EITHER(rsub(a, b)); }
Tensor mul(const Tensor& a, const Tensor& b) { return EITHER(mul(a, b)); }
Tensor mul(const Tensor& a, const Scalar& b) { return EITHER(mul(a, b)); }
Tensor div(const Tensor& a, const Tensor& b) { return EITHER(div(a, b)); }
Tensor div(const Tensor& a, const Scalar& b) { return EITHER(div(a, b)); }
Tensor rdiv(const Scalar& a, const Tensor& b) { return EITHER(rdiv(a, b)); }
Tensor neg(const Tensor& a) { return EITHER(neg(a)); }
Tensor square(const Tensor& a) { return EITHER(square(a)); }
Tensor rsqrt(const Tensor& a) { return EITHER(rsqrt(a)); }
Tensor exp(const Tensor& a) { return EITHER(exp(a)); }
Tensor log(const Tensor& a) { return EITHER(log(a)); }
Tensor sin(const Tensor& a) { return EITHER(sin(a)); }
Tensor cos(const Tensor& a) { return EITHER(cos(a)); }
Tensor pow(const Tensor& a, const Tensor& b) { return EITHER(pow(a, b)); }
Tensor pow(const Tensor& a, const Scalar& b) { return EITHER(pow(a, b)); }
Tensor where(const Tensor& condition, const Tensor& a, const Scalar& b) { return EITHER(where(condition, a, b)); }
Tensor where(const Tensor& condition, const Scalar& a, const Tensor& b) { return EITHER(where(condition, a, b)); }
Tensor sum(const Tensor& a, const Dims& dims, bool keep_dims) { return EITHER(sum(a, dims, keep_dims)); }
Tensor mean(const Tensor& a, const Dims& dims, bool keep_dims) { return EITHER(mean(a, dims, keep_dims)); }
Tensor mm(const Tensor& a, const Tensor& b) { return EITHER(mm(a, b)); }
Tensor matmul(const Tensor& a, const Tensor& b) { return EITHER(matmul(a, b)); }
Tensor t(const Tensor& a) { return EITHER(t(a)); }
Tensor transpose(const Tensor& a, std::int64_t first, std::int64_t second) {
  return EITHER(transpose(a, first, second));
}
Tensor permute(const Tensor& a, const Dims& order) { return EITHER(permute(a, order)); }
Tensor reshape(const Tensor& a, const Dims& sizes) { return EITHER(reshape(a, sizes)); }
Tensor expand(const Tensor& a, const Dims& sizes) { return EITHER(expand(a, sizes)); }
Tensor squeeze(const Tensor& a, std::int64_t dim) { return EITHER(squeeze(a, dim)); }
Tensor unsqueeze(const Tensor& a, std::int64_t dim) { return EITHER(unsqueeze(a, dim)); }
Tensor narrow(const Tensor& a, std::int64_t dim, std::int64_t start, std::int64_t length) {
  return EITHER(narrow(a, dim, start, length));
}
Tensor select(const Tensor& a, std::int64_t dim, std::int64_t index) { return EITHER(select(a, dim, index)); }
// clang-format on

}  // namespace distrun::autograd::formula

#undef EITHER

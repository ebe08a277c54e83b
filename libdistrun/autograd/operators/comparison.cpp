#include <distrun/autograd/operators/elementwise.hpp>
#include <distrun/autograd/scope.hpp>

namespace distrun {

using autograd::OperatorScope;

Tensor eq(const Tensor& a, const Tensor& b) {
  const OperatorScope scope("eq", a, b);
  return tensor::eq(a, b);
}
Tensor eq(const Tensor& a, const Scalar& b) {
  const OperatorScope scope("eq", a);
  return tensor::eq(a, b);
}
Tensor ne(const Tensor& a, const Tensor& b) {
  const OperatorScope scope("ne", a, b);
  return tensor::ne(a, b);
}
Tensor ne(const Tensor& a, const Scalar& b) {
  const OperatorScope scope("ne", a);
  return tensor::ne(a, b);
}
Tensor lt(const Tensor& a, const Tensor& b) {
  const OperatorScope scope("lt", a, b);
  return tensor::lt(a, b);
}
Tensor lt(const Tensor& a, const Scalar& b) {
  const OperatorScope scope("lt", a);
  return tensor::lt(a, b);
}
Tensor le(const Tensor& a, const Tensor& b) {
  const OperatorScope scope("le", a, b);
  return tensor::le(a, b);
}
Tensor le(const Tensor& a, const Scalar& b) {
  const OperatorScope scope("le", a);
  return tensor::le(a, b);
}
Tensor gt(const Tensor& a, const Tensor& b) {
  const OperatorScope scope("gt", a, b);
  return tensor::gt(a, b);
}
Tensor gt(const Tensor& a, const Scalar& b) {
  const OperatorScope scope("gt", a);
  return tensor::gt(a, b);
}
Tensor ge(const Tensor& a, const Tensor& b) {
  const OperatorScope scope("ge", a, b);
  return tensor::ge(a, b);
}
Tensor ge(const Tensor& a, const Scalar& b) {
  const OperatorScope scope("ge", a);
  return tensor::ge(a, b);
}

}  // namespace distrun

#include <distrun/runtime/autograd/operators/elementwise.hpp>
#include <distrun/runtime/autograd/operators/symbols.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>

namespace distrun {
namespace {

// Results of bool have no gradient: only the scope hook is notified.
Tensor compare(const char* name, Tensor (*plain)(const Tensor&, const Tensor&), const Tensor& a, const Tensor& b) {
  const autograd::OperatorScope scope(name, a, b);
  return plain(a, b);
}
Tensor compare(const char* name, Tensor (*plain)(const Tensor&, const Scalar&), const Tensor& a, const Scalar& b) {
  const autograd::OperatorScope scope(name, a);
  return plain(a, b);
}
Tensor test(const char* name, Tensor (*plain)(const Tensor&), const Tensor& a) {
  const autograd::OperatorScope scope(name, a);
  return plain(a);
}

}  // namespace

Tensor eq(const Tensor& a, const Tensor& b) { return compare("eq", tensor::eq, a, b); }
Tensor eq(const Tensor& a, const Scalar& b) { return compare("eq", tensor::eq, a, b); }
Tensor ne(const Tensor& a, const Tensor& b) { return compare("ne", tensor::ne, a, b); }
Tensor ne(const Tensor& a, const Scalar& b) { return compare("ne", tensor::ne, a, b); }
Tensor lt(const Tensor& a, const Tensor& b) { return compare("lt", tensor::lt, a, b); }
Tensor lt(const Tensor& a, const Scalar& b) { return compare("lt", tensor::lt, a, b); }
Tensor le(const Tensor& a, const Tensor& b) { return compare("le", tensor::le, a, b); }
Tensor le(const Tensor& a, const Scalar& b) { return compare("le", tensor::le, a, b); }
Tensor gt(const Tensor& a, const Tensor& b) { return compare("gt", tensor::gt, a, b); }
Tensor gt(const Tensor& a, const Scalar& b) { return compare("gt", tensor::gt, a, b); }
Tensor ge(const Tensor& a, const Tensor& b) { return compare("ge", tensor::ge, a, b); }
Tensor ge(const Tensor& a, const Scalar& b) { return compare("ge", tensor::ge, a, b); }
Tensor logical_and(const Tensor& a, const Tensor& b) { return compare("logical_and", tensor::logical_and, a, b); }
Tensor logical_or(const Tensor& a, const Tensor& b) { return compare("logical_or", tensor::logical_or, a, b); }
Tensor logical_xor(const Tensor& a, const Tensor& b) { return compare("logical_xor", tensor::logical_xor, a, b); }
Tensor logical_not(const Tensor& a) { return test("logical_not", tensor::logical_not, a); }
Tensor isnan(const Tensor& a) { return test("isnan", tensor::isnan, a); }
Tensor isinf(const Tensor& a) { return test("isinf", tensor::isinf, a); }
Tensor isfinite(const Tensor& a) { return test("isfinite", tensor::isfinite, a); }

}  // namespace distrun

namespace distrun::tensor {
namespace {

void check_masks(const char* symbol, const Tensor& a, const Tensor& b) {
  const CalledOperator called(symbol);
  check_defined(symbol, {&a, &b});
  if (a.dtype() == DType::Bool && b.dtype() == DType::Bool) return;
  refuse(symbol, "masks of bool are put together with it; for others there is logical_and() and its like", {&a, &b});
}

}  // namespace

Tensor operator&(const Tensor& a, const Tensor& b) {
  check_masks("operator&", a, b);
  return distrun::logical_and(a, b);
}
Tensor operator|(const Tensor& a, const Tensor& b) {
  check_masks("operator|", a, b);
  return distrun::logical_or(a, b);
}
Tensor operator^(const Tensor& a, const Tensor& b) {
  check_masks("operator^", a, b);
  return distrun::logical_xor(a, b);
}
Tensor operator~(const Tensor& a) {
  check_masks("operator~", a, a);
  return distrun::logical_not(a);
}

}  // namespace distrun::tensor

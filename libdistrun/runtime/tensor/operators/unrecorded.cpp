#include <distrun/runtime/tensor/operators/unrecorded.hpp>

#include <distrun/runtime/tensor/operators/arithmetic.hpp>

namespace distrun::tensor::plain {

Tensor sqrt(const Tensor& a) { return unary({"sqrt", kernels::Unary::Sqrt, true}, a); }
Tensor maximum(const Tensor& a, const Tensor& b) { return binary({"maximum", kernels::Binary::Maximum}, a, b); }

}  // namespace distrun::tensor::plain

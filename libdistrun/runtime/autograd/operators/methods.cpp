// The methods of tensors: each calls the operator of its name. TensorMethods says why they are defined here.
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>

namespace distrun::tensor {

const Tensor& TensorMethods::self() const noexcept { return static_cast<const Tensor&>(*this); }

// One line for each.
// clang-format off
Tensor TensorMethods::add(const Tensor& other, const Scalar& alpha) const { return distrun::add(self(), other, alpha); }
Tensor TensorMethods::add(const Scalar& other, const Scalar& alpha) const { return distrun::add(self(), other, alpha); }
Tensor TensorMethods::sub(const Tensor& other, const Scalar& alpha) const { return distrun::sub(self(), other, alpha); }
Tensor TensorMethods::sub(const Scalar& other, const Scalar& alpha) const { return distrun::sub(self(), other, alpha); }
Tensor TensorMethods::mul(const Tensor& other) const { return distrun::mul(self(), other); }
Tensor TensorMethods::mul(const Scalar& other) const { return distrun::mul(self(), other); }
Tensor TensorMethods::div(const Tensor& other) const { return distrun::div(self(), other); }
Tensor TensorMethods::div(const Scalar& other) const { return distrun::div(self(), other); }
Tensor TensorMethods::pow(const Tensor& exponent) const { return distrun::pow(self(), exponent); }
Tensor TensorMethods::pow(const Scalar& exponent) const { return distrun::pow(self(), exponent); }
Tensor TensorMethods::maximum(const Tensor& other) const { return distrun::maximum(self(), other); }
Tensor TensorMethods::minimum(const Tensor& other) const { return distrun::minimum(self(), other); }
Tensor TensorMethods::neg() const { return distrun::neg(self()); }
Tensor TensorMethods::abs() const { return distrun::abs(self()); }
Tensor TensorMethods::exp() const { return distrun::exp(self()); }
Tensor TensorMethods::log() const { return distrun::log(self()); }
Tensor TensorMethods::sqrt() const { return distrun::sqrt(self()); }
Tensor TensorMethods::sin() const { return distrun::sin(self()); }
Tensor TensorMethods::cos() const { return distrun::cos(self()); }
Tensor TensorMethods::tanh() const { return distrun::tanh(self()); }
Tensor TensorMethods::sigmoid() const { return distrun::sigmoid(self()); }
Tensor TensorMethods::relu() const { return distrun::relu(self()); }
Tensor TensorMethods::square() const { return distrun::square(self()); }
Tensor TensorMethods::rsqrt() const { return distrun::rsqrt(self()); }
Tensor TensorMethods::reciprocal() const { return distrun::reciprocal(self()); }
Tensor TensorMethods::clamp(const std::optional<Scalar>& least, const std::optional<Scalar>& most) const {
  return distrun::clamp(self(), least, most);
}
Tensor TensorMethods::clamp_min(const Scalar& least) const { return distrun::clamp_min(self(), least); }
Tensor TensorMethods::clamp_max(const Scalar& most) const { return distrun::clamp_max(self(), most); }
Tensor TensorMethods::add_(const Tensor& other, const Scalar& alpha) const {
  return distrun::add_(self(), other, alpha);
}
Tensor TensorMethods::add_(const Scalar& other, const Scalar& alpha) const {
  return distrun::add_(self(), other, alpha);
}
Tensor TensorMethods::sub_(const Tensor& other, const Scalar& alpha) const {
  return distrun::sub_(self(), other, alpha);
}
Tensor TensorMethods::sub_(const Scalar& other, const Scalar& alpha) const {
  return distrun::sub_(self(), other, alpha);
}
Tensor TensorMethods::mul_(const Tensor& other) const { return distrun::mul_(self(), other); }
Tensor TensorMethods::mul_(const Scalar& other) const { return distrun::mul_(self(), other); }
Tensor TensorMethods::div_(const Tensor& other) const { return distrun::div_(self(), other); }
Tensor TensorMethods::div_(const Scalar& other) const { return distrun::div_(self(), other); }
Tensor TensorMethods::pow_(const Tensor& exponent) const { return distrun::pow_(self(), exponent); }
Tensor TensorMethods::pow_(const Scalar& exponent) const { return distrun::pow_(self(), exponent); }
Tensor TensorMethods::neg_() const { return distrun::neg_(self()); }
Tensor TensorMethods::abs_() const { return distrun::abs_(self()); }
Tensor TensorMethods::exp_() const { return distrun::exp_(self()); }
Tensor TensorMethods::sqrt_() const { return distrun::sqrt_(self()); }
Tensor TensorMethods::tanh_() const { return distrun::tanh_(self()); }
Tensor TensorMethods::sigmoid_() const { return distrun::sigmoid_(self()); }
Tensor TensorMethods::relu_() const { return distrun::relu_(self()); }
Tensor TensorMethods::clamp_(const std::optional<Scalar>& least, const std::optional<Scalar>& most) const {
  return distrun::clamp_(self(), least, most);
}
Tensor TensorMethods::fill_(const Scalar& value) const { return distrun::fill_(self(), value); }
Tensor TensorMethods::zero_() const { return distrun::zero_(self()); }
Tensor TensorMethods::copy_(const Tensor& from, bool non_blocking) const {
  return distrun::copy_(self(), from, non_blocking);
}
Tensor TensorMethods::eq(const Tensor& other) const { return distrun::eq(self(), other); }
Tensor TensorMethods::eq(const Scalar& other) const { return distrun::eq(self(), other); }
Tensor TensorMethods::ne(const Tensor& other) const { return distrun::ne(self(), other); }
Tensor TensorMethods::ne(const Scalar& other) const { return distrun::ne(self(), other); }
Tensor TensorMethods::lt(const Tensor& other) const { return distrun::lt(self(), other); }
Tensor TensorMethods::lt(const Scalar& other) const { return distrun::lt(self(), other); }
Tensor TensorMethods::le(const Tensor& other) const { return distrun::le(self(), other); }
Tensor TensorMethods::le(const Scalar& other) const { return distrun::le(self(), other); }
Tensor TensorMethods::gt(const Tensor& other) const { return distrun::gt(self(), other); }
Tensor TensorMethods::gt(const Scalar& other) const { return distrun::gt(self(), other); }
Tensor TensorMethods::ge(const Tensor& other) const { return distrun::ge(self(), other); }
Tensor TensorMethods::ge(const Scalar& other) const { return distrun::ge(self(), other); }
Tensor TensorMethods::logical_not() const { return distrun::logical_not(self()); }
Tensor TensorMethods::logical_and(const Tensor& other) const { return distrun::logical_and(self(), other); }
Tensor TensorMethods::logical_or(const Tensor& other) const { return distrun::logical_or(self(), other); }
Tensor TensorMethods::logical_xor(const Tensor& other) const { return distrun::logical_xor(self(), other); }
bool TensorMethods::equal(const Tensor& other) const { return distrun::equal(self(), other); }
Tensor TensorMethods::isnan() const { return distrun::isnan(self()); }
Tensor TensorMethods::masked_fill(const Tensor& mask, const Scalar& value) const {
  return distrun::masked_fill(self(), mask, value);
}

Tensor TensorMethods::masked_select(const Tensor& mask) const { return distrun::masked_select(self(), mask); }

Tensor TensorMethods::sum() const { return distrun::sum(self()); }
Tensor TensorMethods::sum(const Dims& dims, bool keep_dims) const { return distrun::sum(self(), dims, keep_dims); }
Tensor TensorMethods::mean() const { return distrun::mean(self()); }
Tensor TensorMethods::mean(const Dims& dims, bool keep_dims) const { return distrun::mean(self(), dims, keep_dims); }
Tensor TensorMethods::max() const { return distrun::max(self()); }
Extremes TensorMethods::max(std::int64_t dim, bool keep_dim) const { return distrun::max_along(self(), dim, keep_dim); }
Tensor TensorMethods::min() const { return distrun::min(self()); }
Extremes TensorMethods::min(std::int64_t dim, bool keep_dim) const { return distrun::min_along(self(), dim, keep_dim); }
Tensor TensorMethods::amax(const Dims& dims, bool keep_dims) const { return distrun::amax(self(), dims, keep_dims); }
Tensor TensorMethods::amin(const Dims& dims, bool keep_dims) const { return distrun::amin(self(), dims, keep_dims); }
Tensor TensorMethods::argmax() const { return distrun::argmax(self()); }
Tensor TensorMethods::argmax(std::int64_t dim, bool keep_dim) const { return distrun::argmax(self(), dim, keep_dim); }
Tensor TensorMethods::argmin() const { return distrun::argmin(self()); }
Tensor TensorMethods::argmin(std::int64_t dim, bool keep_dim) const { return distrun::argmin(self(), dim, keep_dim); }
Tensor TensorMethods::var() const { return distrun::var(self()); }
Tensor TensorMethods::var(const Dims& dims, bool unbiased, bool keep_dims) const {
  return distrun::var(self(), dims, unbiased, keep_dims);
}
Tensor TensorMethods::norm(const std::optional<Scalar>& p) const { return distrun::norm(self(), p); }
Tensor TensorMethods::norm(const std::optional<Scalar>& p, const Dims& dims, bool keep_dims) const {
  return distrun::norm(self(), p, dims, keep_dims);
}
Tensor TensorMethods::prod() const { return distrun::prod(self()); }
Tensor TensorMethods::prod(std::int64_t dim, bool keep_dim) const { return distrun::prod_along(self(), dim, keep_dim); }
Tensor TensorMethods::all() const { return distrun::all(self()); }
Tensor TensorMethods::all(std::int64_t dim, bool keep_dim) const { return distrun::all_along(self(), dim, keep_dim); }
Tensor TensorMethods::any() const { return distrun::any(self()); }
Tensor TensorMethods::any(std::int64_t dim, bool keep_dim) const { return distrun::any_along(self(), dim, keep_dim); }
Tensor TensorMethods::cumsum(std::int64_t dim) const { return distrun::cumsum(self(), dim); }
Tensor TensorMethods::softmax(std::int64_t dim) const { return distrun::softmax(self(), dim); }
Tensor TensorMethods::log_softmax(std::int64_t dim) const { return distrun::log_softmax(self(), dim); }

Tensor TensorMethods::matmul(const Tensor& other) const { return distrun::matmul(self(), other); }
Tensor TensorMethods::mm(const Tensor& other) const { return distrun::mm(self(), other); }
Tensor TensorMethods::bmm(const Tensor& other) const { return distrun::bmm(self(), other); }

Tensor TensorMethods::view(const Dims& sizes) const { return distrun::view(self(), sizes); }
Tensor TensorMethods::reshape(const Dims& sizes) const { return distrun::reshape(self(), sizes); }
Tensor TensorMethods::flatten(std::int64_t first, std::int64_t last) const {
  return distrun::flatten(self(), first, last);
}
Tensor TensorMethods::expand(const Dims& sizes) const { return distrun::expand(self(), sizes); }
Tensor TensorMethods::expand_as(const Tensor& other) const { return distrun::expand_as(self(), other); }
Tensor TensorMethods::view_as(const Tensor& other) const { return distrun::view_as(self(), other); }
Tensor TensorMethods::transpose(std::int64_t a, std::int64_t b) const { return distrun::transpose(self(), a, b); }
Tensor TensorMethods::t() const { return distrun::t(self()); }
Tensor TensorMethods::permute(const Dims& order) const { return distrun::permute(self(), order); }
Tensor TensorMethods::unsqueeze(std::int64_t dim) const { return distrun::unsqueeze(self(), dim); }
Tensor TensorMethods::squeeze() const { return distrun::squeeze(self()); }
Tensor TensorMethods::squeeze(std::int64_t dim) const { return distrun::squeeze(self(), dim); }
Tensor TensorMethods::narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const {
  return distrun::narrow(self(), dim, start, length);
}
Tensor TensorMethods::select(std::int64_t dim, std::int64_t index) const { return distrun::select(self(), dim, index); }
Tensor TensorMethods::operator[](std::int64_t index) const { return distrun::select(self(), 0, index); }
TensorList TensorMethods::split(std::int64_t size, std::int64_t dim) const { return distrun::split(self(), size, dim); }
TensorList TensorMethods::split(const Dims& sizes, std::int64_t dim) const {
  return distrun::split(self(), sizes, dim);
}
TensorList TensorMethods::chunk(std::int64_t chunks, std::int64_t dim) const {
  return distrun::chunk(self(), chunks, dim);
}
TensorList TensorMethods::unbind(std::int64_t dim) const { return distrun::unbind(self(), dim); }

Tensor TensorMethods::gather(std::int64_t dim, const Tensor& index) const {
  return distrun::gather(self(), dim, index);
}
Tensor TensorMethods::index_select(std::int64_t dim, const Tensor& index) const {
  return distrun::index_select(self(), dim, index);
}
Tensor TensorMethods::scatter_add(std::int64_t dim, const Tensor& index, const Tensor& source) const {
  return distrun::scatter_add(self(), dim, index, source);
}
Tensor TensorMethods::scatter_add_(std::int64_t dim, const Tensor& index, const Tensor& source) const {
  return distrun::scatter_add_(self(), dim, index, source);
}
Tensor TensorMethods::index_add(std::int64_t dim, const Tensor& index, const Tensor& source,
                                const Scalar& alpha) const {
  return distrun::index_add(self(), dim, index, source, alpha);
}
Tensor TensorMethods::index_add_(std::int64_t dim, const Tensor& index, const Tensor& source,
                                 const Scalar& alpha) const {
  return distrun::index_add_(self(), dim, index, source, alpha);
}
Tensor TensorMethods::nonzero() const { return distrun::nonzero(self()); }

Tensor TensorMethods::clone() const { return distrun::clone(self()); }
Tensor TensorMethods::contiguous() const { return distrun::contiguous(self()); }
Tensor TensorMethods::to(DType dtype) const { return distrun::to(self(), dtype); }
Tensor TensorMethods::to(Device device, bool non_blocking) const { return distrun::to(self(), device, non_blocking); }
Tensor TensorMethods::to(const TensorOptions& options, bool non_blocking) const {
  return distrun::to(self(), options, non_blocking);
}
Tensor TensorMethods::to(Device device, DType dtype, bool non_blocking) const {
  return distrun::to(self(), TensorOptions{dtype, device}, non_blocking);
}
Tensor TensorMethods::cpu() const { return distrun::cpu(self()); }
Tensor TensorMethods::cuda() const { return distrun::cuda(self()); }

Tensor TensorMethods::coalesce() const { return distrun::coalesce(self()); }
Tensor TensorMethods::to_dense() const { return distrun::to_dense(self()); }
Tensor TensorMethods::indices() const { return distrun::indices(self()); }
Tensor TensorMethods::values() const { return distrun::values(self()); }

bool TensorMethods::requires_grad() const { return autograd::requires_grad(self()); }
Tensor TensorMethods::set_requires_grad(bool wanted) const { return autograd::set_requires_grad(self(), wanted); }
bool TensorMethods::is_leaf() const { return autograd::is_leaf(self()); }
Tensor TensorMethods::grad() const { return autograd::grad(self()); }
Tensor TensorMethods::detach() const { return autograd::detach(self()); }
void TensorMethods::backward() const { autograd::backward(self()); }
void TensorMethods::backward(const Tensor& gradient) const { autograd::backward(self(), gradient); }
// clang-format on

void Tensor::operator=(const Tensor& from) && { copy_(from); }
void Tensor::operator=(const Scalar& value) && { fill_(value); }

}  // namespace distrun::tensor

#pragma once
// The methods of Tensor: x.sum(), x.view({2, 3}), y.add_(x). Each calls the recorded operator of the same name with the
// tensor as first argument; runtime/autograd/operators documents what it does, takes and throws. A base of Tensor
// without state. Declared here because a class has one declaration; defined in autograd (operators/methods.cpp), which
// plugins and all rooms above link.
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <distrun/runtime/device/device.hpp>
#include <distrun/runtime/device/dims.hpp>
#include <distrun/runtime/tensor/core/dtype.hpp>
#include <distrun/runtime/tensor/core/scalar.hpp>

namespace distrun::tensor {

using device::Device;
using device::Dims;

class Tensor;
struct TensorOptions;
struct Extremes;                         // operators/extremes.hpp
using TensorList = std::vector<Tensor>;  // may hold undefined tensors

// The methods of Tensor: x.sum() is distrun::sum(x).
class TensorMethods {
 public:
  // These are the elementwise operators of the same names in distrun, which document them. In-place forms return the
  // tensor.
  Tensor add(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor add(const Scalar& other, const Scalar& alpha = 1) const;
  Tensor sub(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor sub(const Scalar& other, const Scalar& alpha = 1) const;
  Tensor mul(const Tensor& other) const;
  Tensor mul(const Scalar& other) const;
  Tensor div(const Tensor& other) const;
  Tensor div(const Scalar& other) const;
  Tensor pow(const Tensor& exponent) const;
  Tensor pow(const Scalar& exponent) const;
  Tensor maximum(const Tensor& other) const;
  Tensor minimum(const Tensor& other) const;
  Tensor neg() const;
  Tensor abs() const;
  Tensor exp() const;
  Tensor log() const;
  Tensor sqrt() const;
  Tensor sin() const;
  Tensor cos() const;
  Tensor tanh() const;
  Tensor sigmoid() const;
  Tensor relu() const;
  Tensor square() const;
  Tensor rsqrt() const;
  Tensor reciprocal() const;
  Tensor clamp(const std::optional<Scalar>& least, const std::optional<Scalar>& most = {}) const;
  Tensor clamp_min(const Scalar& least) const;
  Tensor clamp_max(const Scalar& most) const;
  Tensor add_(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor add_(const Scalar& other, const Scalar& alpha = 1) const;
  Tensor sub_(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor sub_(const Scalar& other, const Scalar& alpha = 1) const;
  Tensor mul_(const Tensor& other) const;
  Tensor mul_(const Scalar& other) const;
  Tensor div_(const Tensor& other) const;
  Tensor div_(const Scalar& other) const;
  Tensor pow_(const Tensor& exponent) const;
  Tensor pow_(const Scalar& exponent) const;
  Tensor neg_() const;
  Tensor abs_() const;
  Tensor exp_() const;
  Tensor sqrt_() const;
  Tensor tanh_() const;
  Tensor sigmoid_() const;
  Tensor relu_() const;
  Tensor clamp_(const std::optional<Scalar>& least, const std::optional<Scalar>& most = {}) const;
  Tensor fill_(const Scalar& value) const;
  Tensor zero_() const;
  Tensor copy_(const Tensor& from, bool non_blocking = false) const;
  Tensor eq(const Tensor& other) const;
  Tensor eq(const Scalar& other) const;
  Tensor ne(const Tensor& other) const;
  Tensor ne(const Scalar& other) const;
  Tensor lt(const Tensor& other) const;
  Tensor lt(const Scalar& other) const;
  Tensor le(const Tensor& other) const;
  Tensor le(const Scalar& other) const;
  Tensor gt(const Tensor& other) const;
  Tensor gt(const Scalar& other) const;
  Tensor ge(const Tensor& other) const;
  Tensor ge(const Scalar& other) const;

  // These are the operators of the same names in distrun.
  Tensor logical_not() const;
  Tensor logical_and(const Tensor& other) const;
  Tensor logical_or(const Tensor& other) const;
  Tensor logical_xor(const Tensor& other) const;
  bool equal(const Tensor& other) const;
  Tensor isnan() const;
  Tensor masked_fill(const Tensor& mask, const Scalar& value) const;
  Tensor masked_select(const Tensor& mask) const;

  // These are the reductions of the same names in distrun: over all elements, along a dimension, or over several. With
  // keep_dim reduced dimensions stay, with size 1.
  Tensor sum() const;
  Tensor sum(const Dims& dims, bool keep_dims = false) const;
  Tensor mean() const;
  Tensor mean(const Dims& dims, bool keep_dims = false) const;
  Tensor max() const;
  Extremes max(std::int64_t dim, bool keep_dim = false) const;
  Tensor min() const;
  Extremes min(std::int64_t dim, bool keep_dim = false) const;
  Tensor amax(const Dims& dims = {}, bool keep_dims = false) const;
  Tensor amin(const Dims& dims = {}, bool keep_dims = false) const;
  Tensor argmax() const;
  Tensor argmax(std::int64_t dim, bool keep_dim = false) const;
  Tensor argmin() const;
  Tensor argmin(std::int64_t dim, bool keep_dim = false) const;
  Tensor var() const;
  Tensor var(const Dims& dims, bool unbiased = true, bool keep_dims = false) const;
  Tensor norm(const std::optional<Scalar>& p = {}) const;
  Tensor norm(const std::optional<Scalar>& p, const Dims& dims, bool keep_dims = false) const;
  Tensor prod() const;
  Tensor prod(std::int64_t dim, bool keep_dim = false) const;
  Tensor all() const;
  Tensor all(std::int64_t dim, bool keep_dim = false) const;
  Tensor any() const;
  Tensor any(std::int64_t dim, bool keep_dim = false) const;
  Tensor cumsum(std::int64_t dim) const;
  Tensor softmax(std::int64_t dim) const;
  Tensor log_softmax(std::int64_t dim) const;
  template <Integer Int>
  Tensor sum(Int dim, bool keep_dim = false) const;
  template <Integer Int>
  Tensor mean(Int dim, bool keep_dim = false) const;
  // These keep a bool apart from a dimension, for distrun::var().
  template <std::same_as<bool> Bool>
  Tensor var(Bool unbiased) const;
  template <Integer Int>
  Tensor var(Int dim, bool unbiased = true, bool keep_dim = false) const;

  // These are the products of the same names in distrun.
  Tensor matmul(const Tensor& other) const;
  Tensor mm(const Tensor& other) const;
  Tensor bmm(const Tensor& other) const;

  // These are the views of the same names in distrun; x[i] is x.select(0, i).
  Tensor view(const Dims& sizes) const;
  Tensor reshape(const Dims& sizes) const;
  Tensor flatten(std::int64_t first = 0, std::int64_t last = -1) const;
  Tensor expand(const Dims& sizes) const;
  Tensor transpose(std::int64_t a, std::int64_t b) const;
  Tensor t() const;
  Tensor permute(const Dims& order) const;
  Tensor unsqueeze(std::int64_t dim) const;
  Tensor squeeze() const;
  Tensor squeeze(std::int64_t dim) const;
  Tensor expand_as(const Tensor& other) const;
  Tensor view_as(const Tensor& other) const;
  Tensor narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const;
  Tensor select(std::int64_t dim, std::int64_t index) const;
  Tensor operator[](std::int64_t index) const;
  TensorList split(std::int64_t size, std::int64_t dim = 0) const;
  TensorList split(const Dims& sizes, std::int64_t dim = 0) const;
  TensorList chunk(std::int64_t chunks, std::int64_t dim = 0) const;
  TensorList unbind(std::int64_t dim = 0) const;

  // These are the operators of the same names in distrun, with the tensor as x.
  Tensor gather(std::int64_t dim, const Tensor& index) const;
  Tensor index_select(std::int64_t dim, const Tensor& index) const;
  Tensor scatter_add(std::int64_t dim, const Tensor& index, const Tensor& source) const;
  Tensor scatter_add_(std::int64_t dim, const Tensor& index, const Tensor& source) const;
  Tensor index_add(std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1) const;
  Tensor index_add_(std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1) const;
  Tensor nonzero() const;

  // These are the copies of the same names in distrun.
  Tensor clone() const;
  Tensor contiguous() const;
  Tensor to(DType dtype) const;
  Tensor to(Device device, bool non_blocking = false) const;
  Tensor to(const TensorOptions& options, bool non_blocking = false) const;
  Tensor to(Device device, DType dtype, bool non_blocking = false) const;
  Tensor cpu() const;
  Tensor cuda() const;

  // These are the operators on sparse tensors of the same names in distrun.
  Tensor coalesce() const;
  Tensor to_dense() const;
  Tensor indices() const;
  Tensor values() const;

  // These are the functions of the same names in distrun.
  bool requires_grad() const;
  Tensor set_requires_grad(bool wanted = true) const;
  bool is_leaf() const;
  Tensor grad() const;
  Tensor detach() const;
  void backward() const;
  void backward(const Tensor& gradient) const;

 protected:
  TensorMethods() noexcept = default;
  ~TensorMethods() = default;
  TensorMethods(const TensorMethods&) noexcept = default;
  TensorMethods& operator=(const TensorMethods&) noexcept = default;

 private:
  const Tensor& self() const noexcept;
};

}  // namespace distrun::tensor

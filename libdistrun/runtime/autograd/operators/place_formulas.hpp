#pragma once
// Gradients of what was read from places, and the other way round: linear, and each other's adjoints.
#include <distrun/runtime/autograd/linear_map.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/operators/indexing.hpp>

namespace distrun::autograd {

// Zeros of those sizes, to which is added what gather() with that index has read.
inline Tensor scattered(const char* kind, const Tensor& x, std::int64_t dim, const Tensor& index, const Dims& sizes) {
  const auto run = [dim, sizes](const Tensor& from, const Tensor& places) {
    Tensor to = tensor::zeros(sizes, from.options());
    tensor::scatter_add_(to, dim, places, from, tensor::Numbers::InRange);
    return to;
  };
  const auto adjoint = [dim](const Tensor& from, const Tensor& places) {
    return tensor::gather(from, dim, places, tensor::Numbers::InRange);
  };
  return linear_map(kind, x, run, adjoint, index);
}

// The same of index_select().
inline Tensor index_added(const char* kind, const Tensor& x, std::int64_t dim, const Tensor& index, const Dims& sizes) {
  const auto run = [dim, sizes](const Tensor& from, const Tensor& places) {
    Tensor to = tensor::zeros(sizes, from.options());
    tensor::index_add_(to, dim, places, from, 1, tensor::Numbers::InRange);
    return to;
  };
  const auto adjoint = [dim](const Tensor& from, const Tensor& places) {
    return tensor::index_select(from, dim, places, tensor::Numbers::InRange);
  };
  return linear_map(kind, x, run, adjoint, index);
}

}  // namespace distrun::autograd

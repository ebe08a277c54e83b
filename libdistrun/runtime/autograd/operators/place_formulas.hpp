#pragma once
// Gradients of reads at indices, and the reverse: linear, and each other's adjoints.
#include <distrun/runtime/autograd/linear_map.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/operators/indexing.hpp>

namespace distrun::autograd {

// Adds `x`, read by gather() with that index, to zeros of those sizes.
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

// The same for index_select().
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

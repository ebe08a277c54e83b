#include <distrun/runtime/autograd/placement.hpp>

#include <algorithm>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/reduce.hpp>

namespace distrun::autograd {

Placement::Placement(const Tensor& base, const Tensor& view)
    : base_{base.strided().sizes, base.strides()},
      view_{view.sizes(), view.strides()},
      distance_(view.strided().offset - base.strided().offset),
      dtype_(base.dtype()),
      device_(base.device()) {}

Tensor Placement::spread(const Tensor& gradient) const {
  const Tensor block = tensor::zeros({span_of(base_)}, {dtype_, device_});
  if (gradient.numel() > 0) put(block, gradient);
  return base_of(block);
}

Tensor Placement::part_of(const Tensor& gradient) const { return tensor::clone(view_of(copy(gradient))); }

Tensor Placement::copy(const Tensor& gradient) const {
  const Tensor block = tensor::empty({span_of(base_)}, {dtype_, device_});
  const Tensor copy = base_of(block);
  tensor::copy_(copy, gradient);
  return copy;
}

Tensor Placement::without_part(const Tensor& gradient) const {
  Tensor rest = copy(gradient);
  tensor::fill_(view_of(rest), 0);
  return rest;
}

Tensor Placement::view_of(const Tensor& copy) const {
  return tensor::as_strided(copy, view_.sizes, view_.strides, copy.strided().offset + distance_);
}

std::int64_t Placement::span_of(const Geometry& geometry) {
  if (std::find(geometry.sizes.begin(), geometry.sizes.end(), 0) != geometry.sizes.end()) return 0;
  std::int64_t span = 1;
  for (std::size_t i = 0; i < geometry.sizes.size(); ++i) span += (geometry.sizes[i] - 1) * geometry.strides[i];
  return span;
}

Tensor Placement::base_of(const Tensor& block) const {
  return tensor::as_strided(block, base_.sizes, base_.strides, 0);
}

// Elements of the view that share memory, since it was expanded, share their sum.
void Placement::put(const Tensor& block, const Tensor& gradient) const {
  Dims sizes = view_.sizes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (view_.strides[i] == 0) sizes[i] = 1;
  }
  tensor::copy_(tensor::as_strided(block, sizes, view_.strides, distance_), tensor::sum_to_size(gradient, sizes));
}

}  // namespace distrun::autograd

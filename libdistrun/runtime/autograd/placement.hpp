#pragma once
// Where a view lies in its base's block of memory, for gradients of views that are changed in place: gradients of the
// base get a block of the same shape, so that the same strides address the view's part. All operations are linear.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::autograd {

class Placement {
 public:
  // Both must be strided.
  Placement(const Tensor& base, const Tensor& view);

  // Returns a gradient of the base from a gradient of the view: zeros outside the view's part.
  Tensor spread(const Tensor& gradient) const;
  // The adjoint of spread(): returns a copy of the view's part of a gradient of the base.
  Tensor part_of(const Tensor& gradient) const;
  // Return a copy of a gradient of the base, with the base's strides; the second with zeros in the view's part.
  Tensor copy(const Tensor& gradient) const;
  Tensor without_part(const Tensor& gradient) const;
  // `copy` must be a result of copy() or without_part().
  Tensor view_of(const Tensor& copy) const;

 private:
  struct Geometry {
    Dims sizes, strides;
  };

  static std::int64_t span_of(const Geometry& geometry);
  Tensor base_of(const Tensor& block) const;
  void put(const Tensor& block, const Tensor& gradient) const;

  Geometry base_, view_;
  std::int64_t distance_;
  tensor::DType dtype_;
  Device device_;
};

}  // namespace distrun::autograd

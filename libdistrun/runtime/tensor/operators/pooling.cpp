#include <distrun/runtime/tensor/operators/pooling.hpp>

#include <algorithm>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>

namespace distrun::tensor::plain {
namespace {

struct Axis {
  std::int64_t in, window, stride, padding, out;
  // The part of the window at place `at` that lies in the image.
  std::int64_t first(std::int64_t at) const { return std::max<std::int64_t>(at * stride - padding, 0); }
  std::int64_t end(std::int64_t at) const { return std::min(at * stride - padding + window, in); }
};

Axis axis_of(const Tensor& input, const Pool2dOptions& options, std::size_t i) {
  Axis axis{input.sizes()[2 + i], options.window[i], options.stride[i], options.padding[i], 0};
  if (axis.stride == 0) axis.stride = axis.window;
  const bool is_sound = axis.window >= 1 && axis.stride >= 1 && axis.padding >= 0 && axis.padding <= axis.window / 2 &&
                        axis.window - 2 * axis.padding <= axis.in;
  if (!is_sound) {
    refuse("max_pool2d",
           "window " + std::to_string(axis.window) + ", stride " + std::to_string(axis.stride) + " and padding " +
               std::to_string(axis.padding) + " do not fit a size of " + std::to_string(axis.in),
           {&input});
  }
  axis.out = (axis.in + 2 * axis.padding - axis.window) / axis.stride + 1;
  return axis;
}

// Of one plane.
template <class T>
std::int64_t place_of_largest(const T* plane, const Axis& down, const Axis& across, std::int64_t row,
                              std::int64_t column) {
  std::int64_t best = down.first(row) * across.in + across.first(column);
  for (std::int64_t y = down.first(row); y < down.end(row); ++y) {
    for (std::int64_t x = across.first(column); x < across.end(column); ++x) {
      const T value = plane[y * across.in + x];
      if (value > plane[best] || value != value) best = y * across.in + x;  // not a number wins
    }
  }
  return best;
}

template <class T>
void pool(const T* in, T* values, std::int64_t* indices, std::int64_t planes, const Axis& down, const Axis& across) {
  for (std::int64_t plane = 0; plane < planes; ++plane, in += down.in * across.in) {
    for (std::int64_t row = 0; row < down.out; ++row) {
      for (std::int64_t column = 0; column < across.out; ++column) {
        *indices = place_of_largest(in, down, across, row, column);
        *values++ = in[*indices++];
      }
    }
  }
}

template <class T>
void scatter(const T* gradient, const std::int64_t* indices, T* out, std::int64_t planes, std::int64_t plane_out,
             std::int64_t plane_in) {
  for (std::int64_t plane = 0; plane < planes; ++plane, out += plane_in) {
    for (std::int64_t i = 0; i < plane_out; ++i) out[*indices++] += *gradient++;
  }
}

}  // namespace

Pooled max_pool2d(const Tensor& input, const Pool2dOptions& options) {
  check_defined("max_pool2d", {&input});
  check_dense("max_pool2d", {&input});
  check_floating("max_pool2d", input);
  check_rank("max_pool2d", input, 4);
  const Axis down = axis_of(input, options, 0), across = axis_of(input, options, 1);
  const Dims sizes{input.size(0), input.size(1), down.out, across.out};
  const Pooled out{empty(sizes, input.options()), empty(sizes, {DType::I64, input.device()})};
  if (out.values.numel() == 0) return out;
  const std::int64_t planes = sizes[0] * sizes[1];
  with_floating(input.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch("max_pool2d", std::array{writes(out.values), writes(out.indices), reads(contiguous(input))},
           [planes, down, across](Addresses data) {
             pool(reinterpret_cast<const T*>(data[2]), reinterpret_cast<T*>(data[0]),
                  reinterpret_cast<std::int64_t*>(data[1]), planes, down, across);
           });
  });
  return out;
}

Tensor max_pool2d_gradient(const Tensor& gradient, const Tensor& indices, const Dims& input_sizes) {
  check_defined("max_pool2d_gradient", {&gradient, &indices});
  check_floating("max_pool2d_gradient", gradient);
  const bool fit = input_sizes.size() == 4 && gradient.dim() == 4 && gradient.sizes() == indices.sizes() &&
                   gradient.size(0) == input_sizes[0] && gradient.size(1) == input_sizes[1];
  if (!fit)
    refuse("max_pool2d_gradient", "sizes do not fit the input's " + to_string(input_sizes), {&gradient, &indices});
  const Tensor out = zeros(input_sizes, gradient.options());
  if (gradient.numel() == 0) return out;
  const std::int64_t planes = input_sizes[0] * input_sizes[1];
  const std::int64_t plane_out = gradient.numel() / planes, plane_in = input_sizes[2] * input_sizes[3];
  with_floating(gradient.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch("max_pool2d_gradient", std::array{updates(out), reads(contiguous(gradient)), reads(contiguous(indices))},
           [planes, plane_out, plane_in](Addresses data) {
             scatter(reinterpret_cast<const T*>(data[1]), reinterpret_cast<const std::int64_t*>(data[2]),
                     reinterpret_cast<T*>(data[0]), planes, plane_out, plane_in);
           });
  });
  return out;
}

}  // namespace distrun::tensor::plain

#include <distrun/runtime/tensor/operators/pooling.hpp>

#include <algorithm>
#include <span>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/operators/around.hpp>

namespace distrun::tensor::plain {
namespace {

struct Axis {
  std::int64_t in, window, stride, padding, out;
  // The part of the window at place `at` that lies inside the image.
  std::int64_t first(std::int64_t at) const { return std::max<std::int64_t>(at * stride - padding, 0); }
  std::int64_t end(std::int64_t at) const { return std::min(at * stride - padding + window, in); }
};

// Returns why the window has no place; null if it has. So each window covers an element of the image.
const char* why_unfit(const Axis& axis) {
  if (axis.window < 1) return "the window must be 1 or more";
  if (axis.stride < 1) return "the stride must be 1 or more";
  if (axis.padding < 0 || axis.padding > axis.window / 2) return "the padding must be 0 to half of the window";
  if (axis.window - 2 * axis.padding > axis.in) return "the window must not be larger than the padded image";
  return nullptr;
}

Axis axis_of(const Tensor& input, const Pool2dOptions& options, std::size_t i) {
  Axis axis{input.sizes()[2 + i], options.window[i], options.stride[i], options.padding[i], 0};
  if (axis.stride == 0) axis.stride = axis.window;
  if (const char* const why = why_unfit(axis)) {
    refuse("max_pool2d",
           "window " + std::to_string(axis.window) + ", stride " + std::to_string(axis.stride) + " and padding " +
               std::to_string(axis.padding) + " do not fit a size of " + std::to_string(axis.in) + ": " + why,
           {&input});
  }
  axis.out = (sum_of_sizes("max_pool2d", axis.in, 2 * axis.padding) - axis.window) / axis.stride + 1;
  return axis;
}

void check_images(const Tensor& input) {
  check_defined("max_pool2d", {&input});
  check_dense("max_pool2d", {&input});
  check_floating("max_pool2d", input);
  check_rank("max_pool2d", input, 4);
  for (std::size_t dim = 1; dim < 4; ++dim) {
    if (input.sizes()[dim] > 0) continue;
    refuse("max_pool2d", "only the batch may be empty, and dimension " + std::to_string(dim) + " has a size of 0",
           {&input});
  }
}

// Checks that all are elements of a plane, in one pass at memory speed: a number's sign bit is set if it is below 0,
// and that of its distance to the last element if it is beyond.
void check_indices(const Tensor& indices, std::int64_t plane) {
  const std::span all(indices.data_as<std::int64_t>(), static_cast<std::size_t>(indices.numel()));
  const auto last = static_cast<std::uint64_t>(plane) - 1;
  std::uint64_t bits = 0;
  for (const std::int64_t index : all)
    bits |= static_cast<std::uint64_t>(index) | (last - static_cast<std::uint64_t>(index));
  if (bits >> 63 == 0) return;
  const auto wrong = std::find_if(all.begin(), all.end(), [plane](std::int64_t at) { return at < 0 || at >= plane; });
  refuse("max_pool2d_gradient",
         "index " + std::to_string(*wrong) + " is out of range for planes of " + std::to_string(plane) + " elements",
         {&indices});
}

struct Span {
  std::int64_t first, end;
};

// Finds the largest element of one plane in these rows and columns. Branch-free, since the branches are unpredictable.
template <class T>
std::int64_t place_of_largest(const T* plane, std::int64_t width, Span rows, Span columns) {
  std::int64_t best = rows.first * width + columns.first;
  for (std::int64_t y = rows.first; y < rows.end; ++y) {
    for (std::int64_t at = y * width + columns.first; at < y * width + columns.end; ++at) {
      const T value = plane[at];
      const int is_larger = static_cast<int>(value > plane[best]) | static_cast<int>(value != value);  // NaN wins
      best += (at - best) & -static_cast<std::int64_t>(is_larger);
    }
  }
  return best;
}

template <class T>
void pool(const T* in, T* values, std::int64_t* indices, std::int64_t planes, const Axis& down, const Axis& across) {
  for (std::int64_t plane = 0; plane < planes; ++plane, in += down.in * across.in) {
    for (std::int64_t row = 0; row < down.out; ++row) {
      const Span rows{down.first(row), down.end(row)};
      for (std::int64_t column = 0; column < across.out; ++column) {
        *indices = place_of_largest(in, across.in, rows, {across.first(column), across.end(column)});
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
  check_images(input);
  const Axis down = axis_of(input, options, 0), across = axis_of(input, options, 1);
  const Dims sizes{input.size(0), input.size(1), down.out, across.out};
  const Pooled out{empty(sizes, input.options()), empty(sizes, {DType::I64, input.device()})};
  if (out.values.numel() == 0) return out;
  const std::int64_t planes = sizes[0] * sizes[1];
  with_floating(input.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch("max_pool2d", std::array{writes(out.values), writes(out.indices), reads(contiguous(input))},
           [planes, down, across](Addresses data) {
             auto* values = as_mutable<T>(data[0]);
             auto* indices = as_mutable<std::int64_t>(data[1]);
             const auto* in = as<T>(data[2]);
             const std::int64_t plane_in = down.in * across.in, plane_out = down.out * across.out;
             for_parts(planes, plane_in, [&](std::int64_t first, std::int64_t count) {
               const std::int64_t start = first * plane_out;
               pool(in + first * plane_in, values + start, indices + start, count, down, across);
             });
           });
  });
  return out;
}

Tensor max_pool2d_gradient(const Tensor& gradient, const Tensor& indices, const Dims& input_sizes) {
  check_defined("max_pool2d_gradient", {&gradient, &indices});
  check_dense("max_pool2d_gradient", {&gradient, &indices});
  check_same_device("max_pool2d_gradient", {&gradient, &indices});
  check_floating("max_pool2d_gradient", gradient);
  if (indices.dtype() != DType::I64) refuse("max_pool2d_gradient", "int64 indices are required", {&indices});
  const bool fit = input_sizes.size() == 4 && gradient.dim() == 4 && gradient.sizes() == indices.sizes() &&
                   gradient.size(0) == input_sizes[0] && gradient.size(1) == input_sizes[1];
  if (!fit)
    refuse("max_pool2d_gradient", "sizes do not fit the input's " + to_string(input_sizes), {&gradient, &indices});
  const Tensor out = zeros(input_sizes, gradient.options());
  if (gradient.numel() == 0) return out;
  const std::int64_t planes = input_sizes[0] * input_sizes[1];
  const std::int64_t plane_out = gradient.numel() / planes, plane_in = input_sizes[2] * input_sizes[3];
  const Tensor places = contiguous(indices);
  if (places.device().is_cpu()) check_indices(places, plane_in);
  with_floating(gradient.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch("max_pool2d_gradient", std::array{updates(out), reads(contiguous(gradient)), reads(places)},
           [planes, plane_out, plane_in](Addresses data) {
             auto* to = as_mutable<T>(data[0]);
             const auto* from = as<T>(data[1]);
             const auto* at = as<std::int64_t>(data[2]);
             for_parts(planes, plane_out, [&](std::int64_t first, std::int64_t count) {
               const std::int64_t start = first * plane_out;
               scatter(from + start, at + start, to + first * plane_in, count, plane_out, plane_in);
             });
           });
  });
  return out;
}

}  // namespace distrun::tensor::plain

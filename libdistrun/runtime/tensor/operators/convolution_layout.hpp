#pragma once
// How an image lies for a convolution that is made without columns (convolution.cpp): with its padding in place, so
// that an element of the window is found at the same distance from each place.
#include <distrun/runtime/tensor/operators/convolution_sizes.hpp>
#include <distrun/runtime/tensor/operators/product.hpp>

namespace distrun::tensor {

// Multiplications of a thread: fewer are not worth waking it.
inline constexpr std::int64_t kMultiplicationsEach = std::int64_t{1} << 20;

// Vectors and panels are made whole: whether that is not much more than is needed.
bool is_worth(std::int64_t made, std::int64_t needed) noexcept;

// With a stride each channel is as many planes as there are remainders, so that neighbouring places of the window are
// neighbours there.
struct PaddedImage {
  Plane image;   // without its padding
  Plane before;  // zeros above it and to its left
  Plane phases;
  Plane plane;  // its width is the distance of rows

  // Of the image with its padding.
  std::int64_t at(std::int64_t channel, std::int64_t y, std::int64_t x) const {
    const std::int64_t phase = (channel * phases.height + y % phases.height) * phases.width + x % phases.width;
    return (phase * plane.height + y / phases.height) * plane.width + x / phases.width;
  }
  std::int64_t channel() const { return phases.count() * plane.count(); }
};

// Of the input, for its window. Without a stride the zeros behind a row are those before the next one, and a last row
// is read so far.
PaddedImage padded_input(const Geometry& geometry);

// Of the result's gradient, for the windows that cover an element of the input: with as many zeros as these reach over.
PaddedImage padded_gradient(const Geometry& geometry);

// With its padding the image is not much larger than without.
bool has_little_padding(const PaddedImage& image) noexcept;

// What is around the image's elements stays as it is.
template <class T>
void place_image(const PaddedImage& padded, std::int64_t channels, const T* image, T* out);

// A matrix whose columns lie along memory, copied so that rows do. Strides in elements.
template <class T>
void turn(const T* matrix, std::int64_t rows, std::int64_t columns, std::int64_t column_stride, T* out,
          std::int64_t out_stride);

}  // namespace distrun::tensor

#pragma once
// Image layout for convolutions without columns (convolution.cpp): padded in place, so that a window element is at the
// same distance from each place.
#include <distrun/runtime/tensor/operators/convolution_sizes.hpp>
#include <distrun/runtime/tensor/operators/product.hpp>

namespace distrun::tensor {

// Multiplications per thread; fewer are not worth waking one.
inline constexpr std::int64_t kMultiplicationsEach = std::int64_t{1} << 20;

// Vectors and panels are padded to whole ones; returns whether that adds little work.
bool is_worth(std::int64_t made, std::int64_t needed) noexcept;

// If there is a stride, each channel is split into one plane per remainder, so that elements of neighboring places are
// neighbors in memory.
struct PaddedImage {
  Plane image;   // without padding
  Plane before;  // zeros above and to the left
  Plane phases;
  Plane plane;  // its width is the row distance

  // Coordinates include the padding.
  std::int64_t at(std::int64_t channel, std::int64_t y, std::int64_t x) const {
    const std::int64_t phase = (channel * phases.height + y % phases.height) * phases.width + x % phases.width;
    return (phase * plane.height + y / phases.height) * plane.width + x / phases.width;
  }
  std::int64_t channel() const { return phases.count() * plane.count(); }
};

// Returns the input's layout. Without a stride the zeros after a row are those before the next one, and reading a last
// row continues into them.
PaddedImage padded_input(const Geometry& geometry);

// Returns whether the padding adds little to the image.
bool has_little_padding(const PaddedImage& image) noexcept;

// Copies image elements only; the padding stays as it is.
template <class T>
void place_image(const PaddedImage& padded, std::int64_t channels, const T* image, T* out);

// Transposes a matrix with contiguous columns into contiguous rows. Strides in elements.
template <class T>
void turn(const T* matrix, std::int64_t rows, std::int64_t columns, std::int64_t column_stride, T* out,
          std::int64_t out_stride);

}  // namespace distrun::tensor

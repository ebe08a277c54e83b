#include <distrun/runtime/tensor/operators/convolution_layout.hpp>

#include <algorithm>
#include <type_traits>

#include <distrun/runtime/tensor/kernels/instruction_set.hpp>

namespace distrun::tensor {

bool is_worth(std::int64_t made, std::int64_t needed) noexcept {
  constexpr double kMostWork = 1.6;  // relative to the needed work
  return static_cast<double>(made) <= kMostWork * static_cast<double>(needed);
}

PaddedImage padded_input(const Geometry& g) {
  const auto distance = [](std::int64_t size, std::int64_t stride) { return (size + stride - 1) / stride; };
  const std::int64_t width = g.stride.width == 1 ? std::max(g.in.width + g.padding.width, g.out.width)
                                                 : distance(g.in.width + 2 * g.padding.width, g.stride.width);
  return {g.in, g.padding, g.stride, {distance(g.in.height + 2 * g.padding.height, g.stride.height), width}};
}

bool has_little_padding(const PaddedImage& image) noexcept {
  constexpr double kMostMemory = 4;
  return static_cast<double>(image.phases.count()) * static_cast<double>(image.plane.height) *
             static_cast<double>(image.plane.width) <=
         kMostMemory * static_cast<double>(image.image.count());
}

template <class T>
void place_image(const PaddedImage& padded, std::int64_t channels, const T* image, T* out) {
  const Plane size = padded.image;
  const bool is_as_it_is =
      padded.phases.count() == 1 && padded.plane.height == size.height && padded.plane.width == size.width;
  if (is_as_it_is) return void(std::copy_n(image, channels * size.count(), out));
  const auto take_each = kernels::table().panels->take_each[kernels::floating_place(dtype_of<T>)];
  const std::int64_t step = padded.phases.width;
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    for (std::int64_t y = 0; y < size.height; ++y, image += size.width) {
      const std::int64_t row = y + padded.before.height;
      if (step == 1) {
        std::copy_n(image, size.width, out + padded.at(channel, row, padded.before.width));
        continue;
      }
      for (std::int64_t first = 0; first < std::min(step, size.width); ++first) {
        take_each(image + first, step, (size.width - first - 1) / step + 1,
                  out + padded.at(channel, row, first + padded.before.width));
      }
    }
  }
}

template void place_image(const PaddedImage&, std::int64_t, const float*, float*);
template void place_image(const PaddedImage&, std::int64_t, const double*, double*);

template <class T>
void turn(const T* matrix, std::int64_t rows, std::int64_t columns, std::int64_t column_stride, T* out,
          std::int64_t out_stride) {
  // Rows written at a time, so that they stay in the L1 cache; it holds few rows if their distance is a power of 2.
  constexpr std::int64_t kMany = 64, kFew = 8, kApart = 1024;
  constexpr std::int64_t kBytes = sizeof(T);
  const std::int64_t at_a_time = out_stride * kBytes % kApart == 0 ? kFew : kMany;
  const auto turn_some = kernels::table().copy->turn[static_cast<int>(dtype_of<T>)];
  for (std::int64_t row = 0; row < rows; row += at_a_time) {
    turn_some({reinterpret_cast<const std::byte*>(matrix + row), std::min(at_a_time, rows - row), kBytes, columns,
               column_stride * kBytes},
              reinterpret_cast<std::byte*>(out + row * out_stride), out_stride * kBytes);
  }
}

template void turn(const float*, std::int64_t, std::int64_t, std::int64_t, float*, std::int64_t);
template void turn(const double*, std::int64_t, std::int64_t, std::int64_t, double*, std::int64_t);

}  // namespace distrun::tensor

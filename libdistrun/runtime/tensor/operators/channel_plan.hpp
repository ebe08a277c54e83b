#pragma once
// The plan, without addresses, of the gradient of a convolution's weight (weight_gradient.hpp): which places are summed
// at a time, and which of them see the same elements of the window.
#include <vector>

#include <distrun/runtime/tensor/kernels/table.hpp>
#include <distrun/runtime/tensor/operators/convolution_layout.hpp>

namespace distrun::tensor {

// Places that see the same elements of the window.
struct Part {
  std::vector<std::int64_t> elements;  // window elements, in the weight's order
  std::vector<std::int64_t> places;    // places of a chunk, as offsets in the padded images
  std::vector<std::int64_t> results;   // the places' indices in the chunk, in the same order
};

// A chunk of work is some rows of places of one image, or all rows of some images.
struct ChannelPlan {
  static constexpr std::int64_t kBlock = 32;  // output channels computed at a time

  std::int64_t batch, in_channels, out_channels;
  Plane window, out;
  PaddedImage padded;
  std::int64_t images = 1, rows = 1;  // per chunk
  std::vector<Part> parts{};

  std::int64_t patch() const { return in_channels * window.count(); }
  std::int64_t result() const { return out_channels * out.count(); }
  // Reading beyond the last row continues into the next row's leading zeros.
  std::int64_t image() const { return in_channels * padded.channel() + padded.before.width; }
  std::int64_t chunk() const { return images * rows * out.width; }

  std::int64_t blocks() const { return (out_channels - 1) / kBlock + 1; }
  std::int64_t channels_of(std::int64_t block) const;
  // Number of computed columns of the block, with padding.
  std::int64_t columns_of(std::int64_t block) const;
  // Row distance in the sums and in the chunk's gradient.
  std::int64_t row() const { return columns_of(0); }
};

// Channels are padded to whole vectors; returns whether that adds little work.
bool fills_vectors(std::int64_t channels) noexcept;

// Border places skip window elements outside the image if enough of them are to be skipped.
ChannelPlan channel_plan_of(const Geometry& geometry);

// Copies images of the input from `first` on to the plan's offsets; the space between them must already be zeros.
template <class T>
void place_images(const ChannelPlan& plan, const T* input, std::int64_t first, std::int64_t count, T* images);

}  // namespace distrun::tensor

#pragma once
// The plan, without addresses, of a convolution by channels (channel_convolution.hpp).
#include <vector>

#include <distrun/runtime/tensor/kernels/table.hpp>
#include <distrun/runtime/tensor/operators/convolution_layout.hpp>

namespace distrun::tensor {

// Places that see the same elements of the window.
struct Part {
  std::vector<std::int64_t> elements;     // window elements, in the weight's order
  std::vector<kernels::Factors> factors;  // offsets for some channels: from a place, and in the packed weight
  std::vector<std::int64_t> places;       // places of a chunk, as offsets in the padded images
  std::vector<std::int64_t> results;      // the places' indices in the chunk, in the same order
};

// A chunk of work is some rows of places of one image, or all rows of some images.
struct ChannelPlan {
  static constexpr std::int64_t kBlock = 32;  // output channels computed at a time

  std::int64_t batch, in_channels, out_channels;  // of this convolution, even if it computes a gradient
  Plane window, out;
  PaddedImage padded;
  bool is_turned;                     // the weight's first dimension is the input channels
  std::int64_t row_step;              // rows of places per row of the padded image
  std::int64_t images = 1, rows = 1;  // per chunk
  std::int64_t channels = 1;          // input channels multiplied at a time
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
  // Row distance in packed weights and results.
  std::int64_t row() const { return columns_of(0); }
  // Number of the part's places in a chunk of `places`.
  static std::int64_t places_in(const Part& part, std::int64_t places);
};

// Channels are padded to whole vectors; returns whether that adds little work.
bool fills_vectors(std::int64_t channels) noexcept;

// Number of threads that pay off, each with separate images.
std::int64_t lanes_of(const ChannelPlan& plan);

// Plans the forward convolution. A chunk has no more images than each of `lanes_at_most` lanes gets. Border places skip
// window elements outside the image if enough of them are to be skipped.
ChannelPlan channel_plan_of(const Geometry& geometry, int lanes_at_most);

// Estimates the cycles per result element of the forward convolution.
double cost_by_channels(const Geometry& geometry);

// Plans the convolution that computes the input's gradient: an input element sees every `stride`-th element of the
// window, from an offset that depends on its position.
ChannelPlan input_gradient_plan_of(const Geometry& geometry, int lanes_at_most);

// Copies images of the input from `first` on to the plan's offsets; the space between them must already be zeros.
template <class T>
void place_images(const ChannelPlan& plan, const T* input, std::int64_t first, std::int64_t count, T* images);

}  // namespace distrun::tensor

#pragma once
// How a convolution is made for some channels of its result at a time, side by side in vectors, place by place
// (channel_convolution.hpp): everything but addresses.
#include <vector>

#include <distrun/runtime/tensor/kernels/table.hpp>
#include <distrun/runtime/tensor/operators/convolution_layout.hpp>

namespace distrun::tensor {

// Places that see the same elements of the window.
struct Part {
  std::vector<std::int64_t> elements;     // of the window, as they are in the weight
  std::vector<kernels::Factors> factors;  // for some channels: behind a place, and in the packed weight
  std::vector<std::int64_t> places;       // of a chunk, in the padded images
  std::vector<std::int64_t> results;      // which of the chunk's they are, in this order
};

// A chunk of the work is some rows of places of one image, or all of some images.
struct ChannelPlan {
  static constexpr std::int64_t kBlock = 32;  // channels of the result that are made at a time

  std::int64_t batch, in_channels, out_channels;  // of this convolution, also where it makes a gradient
  Plane window, out;
  PaddedImage padded;
  bool is_turned;                     // the weight: its first channels are those of the input
  std::int64_t row_step;              // how many rows of places there are for one of the padded image
  std::int64_t images = 1, rows = 1;  // of a chunk
  std::int64_t channels = 1;          // of the input that are multiplied at a time
  std::vector<Part> parts{};

  std::int64_t patch() const { return in_channels * window.count(); }
  std::int64_t result() const { return out_channels * out.count(); }
  // What is behind the last row is read as what is before the next one.
  std::int64_t image() const { return in_channels * padded.channel() + padded.before.width; }
  std::int64_t chunk() const { return images * rows * out.width; }

  std::int64_t blocks() const { return (out_channels - 1) / kBlock + 1; }
  std::int64_t channels_of(std::int64_t block) const;
  // What is made with them.
  std::int64_t columns_of(std::int64_t block) const;
  // The distance of rows of what is packed or made.
  std::int64_t row() const { return columns_of(0); }
  // How many places of a chunk with so many are the part's.
  static std::int64_t places_in(const Part& part, std::int64_t places);
};

// Channels are made up to whole vectors: whether that is not much more than is needed.
bool fills_vectors(std::int64_t channels) noexcept;

// How many threads it is worth, each with images of its own.
std::int64_t lanes_of(const ChannelPlan& plan);

// Of the convolution itself. A chunk has no more images than each of so many lanes has. Places at a border see only the
// elements of the window that are on the image, if there are so many of them that it is worth it.
ChannelPlan channel_plan_of(const Geometry& geometry, int lanes_at_most);

// About how many cycles an element of the result costs the convolution itself.
double cost_by_channels(const Geometry& geometry);

// Of the one that makes the input's gradient: an element of the input stands under each `stride`th element of the
// window, from one on that depends on where it is.
ChannelPlan input_gradient_plan_of(const Geometry& geometry, int lanes_at_most);

// Brings some images of the input from `first` on where they are found by the plan's numbers; what is between them must
// be zeros.
template <class T>
void place_images(const ChannelPlan& plan, const T* input, std::int64_t first, std::int64_t count, T* images);

}  // namespace distrun::tensor

#include <distrun/runtime/tensor/operators/direct_convolution.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include <distrun/runtime/tensor/core/empty.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/parallel.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/operators/convolution_layout.hpp>

namespace distrun::tensor {
namespace {

using kernels::kPanelColumns;
using kernels::kPanelRows;

// The plan, without addresses.
struct Plan {
  Geometry g;
  PaddedImage padded;
  bool is_turned;                    // the weight is transposed
  std::int64_t rows, columns;        // result rows computed at a time, and their places
  std::int64_t panels;               // of weight rows
  std::int64_t images;               // images in scratch at a time: small ones share reads of a large weight
  std::int64_t lanes;                // threads with separate images
  std::vector<std::int64_t> places;  // offset of each window element in the padded image

  std::int64_t packed() const { return panels * kPanelRows * (g.patch() + 1); }  // with the bias
  // The last tile may read beyond the end; those values are not used.
  std::int64_t image() const { return g.in_channels * padded.channel() + kPanelColumns + padded.plane.width; }
  std::int64_t lane() const { return images * image() + kPanelRows * columns; }
  std::int64_t scratch() const { return packed() + lanes * lane(); }
};

constexpr std::int64_t kPlacesAtOnce = 512;  // including the gaps between rows

std::int64_t lanes_of(const Geometry& g) {
  const double multiplications = static_cast<double>(g.batch * g.result()) * static_cast<double>(g.patch());
  const double worth = std::min(multiplications / kMultiplicationsEach, static_cast<double>(threads()));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(worth), 1, g.batch);
}

Plan plan_of(const Geometry& g, bool is_turned) {
  constexpr std::int64_t kInCache = std::int64_t{1} << 17;  // elements
  Plan plan{g, padded_input(g), is_turned, 0, 0, up_to(g.out_channels, kPanelRows) / kPanelRows, 1, 1, {}};
  plan.lanes = lanes_of(g);
  plan.images = std::clamp<std::int64_t>(kInCache / plan.image(), 1, (g.batch - 1) / plan.lanes + 1);
  plan.rows = std::clamp<std::int64_t>(kPlacesAtOnce / plan.padded.plane.width, 1, g.out.height);
  plan.columns = up_to(plan.rows * plan.padded.plane.width, kPanelColumns);
  for (std::int64_t channel = 0; channel < g.in_channels; ++channel) {
    for (std::int64_t y = 0; y < g.window.height; ++y) {
      for (std::int64_t x = 0; x < g.window.width; ++x) plan.places.push_back(plan.padded.at(channel, y, x));
    }
  }
  return plan;
}

// Packs the bias, then panels of the weight's rows, column by column; missing rows of the last panel are zeros.
template <class T>
void pack(const Plan& plan, const T* weight, const T* bias, T* packed) {
  const Geometry& g = plan.g;
  const std::int64_t patch = g.patch(), window = g.window.count();
  std::fill_n(packed, plan.packed(), T{0});
  if (bias != nullptr) std::copy_n(bias, g.out_channels, packed);
  packed += plan.panels * kPanelRows;
  if (!plan.is_turned) {
    for (std::int64_t row = 0; row < g.out_channels; row += kPanelRows) {
      turn(weight + row * patch, patch, std::min(kPanelRows, g.out_channels - row), patch, packed + row * patch,
           kPanelRows);
    }
    return;
  }
  for (std::int64_t row = 0; row < g.out_channels; ++row) {
    T* out = packed + row / kPanelRows * kPanelRows * patch + row % kPanelRows;
    for (std::int64_t channel = 0; channel < g.in_channels; ++channel) {
      const T* last = weight + (channel * g.out_channels + row + 1) * window - 1;
      for (std::int64_t k = 0; k < window; ++k) out[(channel * window + k) * kPanelRows] = last[-k];
    }
  }
}

// Stores a panel's rows of places without the gaps between them.
template <class T>
void store_results(const Plan& plan, const T* panel, std::int64_t rows, std::int64_t channels, T* out) {
  const bool is_whole = plan.padded.plane.width == plan.g.out.width;
  const std::int64_t width = is_whole ? rows * plan.g.out.width : plan.g.out.width;
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    for (std::int64_t y = 0; y < (is_whole ? 1 : rows); ++y) {
      std::copy_n(panel + channel * plan.columns + y * plan.padded.plane.width, width,
                  out + channel * plan.g.out.count() + y * width);
    }
  }
}

// Multiplies a panel of `channels` with one image; `out` is the beginning of its rows. Rows made of whole tiles are
// computed in place, others in `beside`, including the gaps between rows.
template <class T>
void convolve_panel(const Plan& plan, kernels::Panel product, std::int64_t rows, std::int64_t channels, T* beside,
                    T* out) {
  constexpr std::int64_t kTile = 16;
  const auto multiply = kernels::table().panels->multiply[kernels::floating_place(dtype_of<T>)];
  const std::int64_t distance = plan.padded.plane.width, width = plan.g.out.width;
  if (width % kTile == 0 && channels == kPanelRows) {
    product.c = out;
    product.c_row = plan.g.out.count();
    product.columns = product.c_line = width;
    product.lines = rows;
    product.b_line = distance;
    return multiply(product);
  }
  product.c = beside;
  product.c_row = plan.columns;
  product.columns = up_to((rows - 1) * distance + width, kPanelColumns);
  multiply(product);
  store_results(plan, beside, rows, channels, out);
}

// Computes rows of results, from `row` on, of some images.
template <class T>
void convolve_rows(const Plan& plan, const T* packed, const T* images, std::int64_t count, std::int64_t row, T* beside,
                   T* out) {
  const Geometry& g = plan.g;
  const std::int64_t rows = std::min(plan.rows, g.out.height - row);
  kernels::Panel product;
  product.b_rows = plan.places.data();
  product.inner = g.patch();
  for (std::int64_t channel = 0; channel < g.out_channels; channel += kPanelRows) {
    product.plus = packed + channel;
    product.a = packed + plan.panels * kPanelRows + channel * g.patch();
    for (std::int64_t i = 0; i < count; ++i) {
      product.b = images + i * plan.image() + row * plan.padded.plane.width;
      convolve_panel(plan, product, rows, std::min(kPanelRows, g.out_channels - channel), beside,
                     out + i * g.result() + channel * g.out.count() + row * g.out.width);
    }
  }
}

// Runs a lane's images; lanes take groups of images in turn.
template <class T>
void run_lane(const Plan& plan, std::int64_t lane, const T* packed, const T* input, T* scratch, T* out) {
  const Geometry& g = plan.g;
  T* const images = scratch;
  T* const beside = images + plan.images * plan.image();
  std::fill_n(images, plan.images * plan.image(), T{0});
  for (std::int64_t first = lane * plan.images; first < g.batch; first += plan.lanes * plan.images) {
    const std::int64_t count = std::min(plan.images, g.batch - first);
    for (std::int64_t i = 0; i < count; ++i) {
      place_image(plan.padded, g.in_channels, input + (first + i) * g.image(), images + i * plan.image());
    }
    for (std::int64_t row = 0; row < g.out.height; row += plan.rows) {
      convolve_rows(plan, packed, images, count, row, beside, out + first * g.result());
    }
  }
}

template <class T>
void run(const Plan& plan, const T* input, const T* weight, const T* bias, T* scratch, T* out) {
  T* const packed = scratch;
  T* const lanes = packed + plan.packed();
  pack(plan, weight, bias, packed);
  parallel_for(plan.lanes, 1, [&](std::int64_t lane, std::int64_t end) {
    for (; lane < end; ++lane) run_lane(plan, lane, packed, input, lanes + lane * plan.lane(), out);
  });
}

void launch_plan(const char* name, const Plan& plan, const Tensor& out, const Tensor& input, const Tensor& weight,
                 const Tensor& bias) {
  const Tensor scratch = plain::empty({plan.scratch()}, out.options());
  const bool has_bias = bias.defined();
  with_floating(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch(name, std::array{writes(out), reads(input), reads(weight), reads(has_bias ? bias : weight), writes(scratch)},
           [plan, has_bias](Addresses data) {
             run(plan, reinterpret_cast<const T*>(data[1]), reinterpret_cast<const T*>(data[2]),
                 has_bias ? reinterpret_cast<const T*>(data[3]) : nullptr, reinterpret_cast<T*>(data[4]),
                 reinterpret_cast<T*>(data[0]));
           });
  });
}

}  // namespace

bool is_direct(const Geometry& g) noexcept {
  const PaddedImage image = padded_input(g);
  return has_little_padding(image) && is_worth(image.plane.width, g.out.width) &&
         is_worth(up_to(g.out_channels, kPanelRows), g.out_channels);
}

void convolve_directly(const Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias,
                       const Geometry& g) {
  launch_plan("conv2d", plan_of(g, false), out, input, weight, bias);
}

Geometry turned(const Geometry& g) noexcept {
  Geometry other = g;
  std::swap(other.in_channels, other.out_channels);
  std::swap(other.in, other.out);
  other.padding = {g.window.height - 1 - g.padding.height, g.window.width - 1 - g.padding.width};
  return other;
}

void convolve_turned(const Tensor& out, const Tensor& gradient, const Tensor& weight, const Geometry& g) {
  launch_plan("conv2d_input_gradient", plan_of(g, true), out, gradient, weight, Tensor());
}

}  // namespace distrun::tensor

// A convolution is a matrix product. Usually it is computed in place, with places side by side in vectors
// (direct_convolution.hpp), and the gradient of the weight with channels side by side (weight_gradient.hpp). Otherwise
// each image is written out as columns, one per place of the window, which costs memory and time:
// tests/bench/README.md has the figures.
#include <distrun/runtime/tensor/operators/convolution.hpp>

#include <algorithm>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/operators/direct_convolution.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/product.hpp>
#include <distrun/runtime/tensor/operators/weight_gradient.hpp>

namespace distrun::tensor::plain {
namespace {

// Returns the number of the window's places along a side; 0 if the window is larger.
std::int64_t places(const char* op, std::int64_t size, std::int64_t window, std::int64_t stride, std::int64_t padding) {
  const std::int64_t padded = sum_of_sizes(op, size, 2 * padding);
  return padded < window ? 0 : (padded - window) / stride + 1;
}

// Bounds strides and paddings, so that sums of them and of places cannot overflow.
constexpr std::int64_t kMost = std::int64_t{1} << 30;

void check_options(const char* op, const Conv2dOptions& options) {
  for (int i = 0; i < 2; ++i) {
    const std::int64_t stride = options.stride[static_cast<std::size_t>(i)];
    const std::int64_t padding = options.padding[static_cast<std::size_t>(i)];
    if (stride >= 1 && stride <= kMost && padding >= 0 && padding <= kMost) continue;
    refuse(op,
           "stride must be 1 or more and padding 0 or more, and neither above " + std::to_string(kMost) +
               ", but they are " + std::to_string(stride) + " and " + std::to_string(padding),
           {});
  }
}

// Returns why the sizes do not fit; null if they do.
const char* why_unfit(const Geometry& g, std::int64_t weight_channels) {
  if (g.out_channels == 0 || g.window.height == 0 || g.window.width == 0) return "the weight has no elements";
  if (g.in_channels != weight_channels) return "the channels differ";
  if (g.in.height == 0 || g.in.width == 0) return "the image has no elements";
  if (g.out.height == 0 || g.out.width == 0) return "the window is larger than the image";
  return nullptr;
}

Geometry geometry_of(const char* op, const Dims& input, const Dims& weight, const Conv2dOptions& options) {
  check_options(op, options);
  Geometry g{input[0],
             input[1],
             weight[0],
             {input[2], input[3]},
             {weight[2], weight[3]},
             {0, 0},
             {options.stride[0], options.stride[1]},
             {options.padding[0], options.padding[1]}};
  g.out = {places(op, g.in.height, g.window.height, g.stride.height, g.padding.height),
           places(op, g.in.width, g.window.width, g.stride.width, g.padding.width)};
  if (const char* const why = why_unfit(g, weight[1])) {
    refuse(op, "input " + to_string(input) + " and weight " + to_string(weight) + " do not fit: " + why, {});
  }
  return g;
}

// A row of places at which one window element moves over one line of the image.
struct Line {
  std::int64_t columns;      // the row's begin in the columns [patch, places]
  std::int64_t image;        // the image element at the first place, maybe before the line
  std::int64_t first, last;  // the places inside the image; the others are in the padding
};

// Calls body(line) for each window element and each row of places, in the order of the columns.
template <class Body>
void for_each_line(const Geometry& g, Body body) {
  std::int64_t columns = 0;
  for (std::int64_t element = 0; element < g.patch(); ++element) {
    const std::int64_t channel = element / g.window.count();
    const std::int64_t dy = element / g.window.width % g.window.height - g.padding.height;
    const std::int64_t dx = element % g.window.width - g.padding.width;
    // Counts the places x with 0 <= x stride + dx < width.
    const auto places_before = [&](std::int64_t at) {
      return std::clamp((at - dx + g.stride.width - 1) / g.stride.width, std::int64_t{0}, g.out.width);
    };
    const std::int64_t first = dx >= 0 ? 0 : places_before(0);
    const std::int64_t last = dx >= g.in.width ? 0 : places_before(g.in.width);
    for (std::int64_t row = 0; row < g.out.height; ++row, columns += g.out.width) {
      const std::int64_t y = row * g.stride.height + dy;
      const bool is_inside = y >= 0 && y < g.in.height && first < last;
      const std::int64_t image = (channel * g.in.height + y) * g.in.width + dx;
      body(is_inside ? Line{columns, image, first, last} : Line{columns, 0, 0, 0});
    }
  }
}

template <class T>
void write_columns(const Geometry& g, const T* image, T* columns) {
  for_each_line(g, [&g, image, columns](const Line& line) {
    T* out = columns + line.columns;
    std::fill_n(out, line.first, T{0});
    if (g.stride.width == 1) {
      std::copy_n(image + (line.image + line.first), line.last - line.first, out + line.first);
    } else {
      for (std::int64_t i = line.first; i < line.last; ++i) out[i] = image[line.image + i * g.stride.width];
    }
    std::fill(out + line.last, out + g.out.width, T{0});
  });
}

template <class T>
void add_columns(const Geometry& g, T* columns, T* image) {
  const kernels::Run add =
      kernels::table().binary->run[static_cast<int>(kernels::Binary::Add)][static_cast<int>(dtype_of<T>)];
  constexpr std::int64_t kBytes = sizeof(T);
  const std::int64_t strides[] = {g.stride.width * kBytes, g.stride.width * kBytes, kBytes};
  const T one{1};
  for_each_line(g, [&](const Line& line) {
    auto* out = reinterpret_cast<std::byte*>(image + (line.image + line.first * g.stride.width));
    auto* from = reinterpret_cast<std::byte*>(columns + line.columns + line.first);
    std::byte* const data[] = {out, out, from};
    add(data, {strides, line.last - line.first}, {}, &one);
  });
}

// Row-major A and B, either of which may be transposed.
struct Factors {
  bool a_turned = false, b_turned = false;
};
kernels::Product product(std::int64_t rows, std::int64_t inner, std::int64_t columns, Factors turned) {
  kernels::Product p;
  p.rows = rows;
  p.inner = inner;
  p.columns = columns;
  p.a_row = turned.a_turned ? 1 : inner;
  p.a_column = turned.a_turned ? rows : 1;
  p.b_row = turned.b_turned ? 1 : columns;
  p.b_column = turned.b_turned ? inner : 1;
  p.c_row = columns;
  return p;
}

template <class T>
void multiply(kernels::Product p, T* c, const T* a, const T* b) {
  p.c = c;
  p.a = a;
  p.b = b;
  multiply_of("conv2d", dtype_of<T>, p)(p);
}

Tensor scratch(const Geometry& g, const Tensor& like) { return empty({g.patch(), g.out.count()}, like.options()); }

template <class T>
void forward(const Tensor& out, const Tensor& input, const Tensor& weight, const Geometry& g) {
  launch("conv2d", std::array{writes(out), reads(input), reads(weight), writes(scratch(g, input))},
         [g](Addresses data) {
           auto* results = reinterpret_cast<T*>(data[0]);
           const auto* images = reinterpret_cast<const T*>(data[1]);
           auto* columns = reinterpret_cast<T*>(data[3]);
           for (std::int64_t i = 0; i < g.batch; ++i) {
             write_columns(g, images + i * g.image(), columns);
             multiply<T>(product(g.out_channels, g.patch(), g.out.count(), {}), results + i * g.result(),
                         reinterpret_cast<const T*>(data[2]), columns);
           }
         });
}

template <class T>
void input_gradient(const Tensor& out, const Tensor& gradient, const Tensor& weight, const Geometry& g) {
  launch("conv2d_input_gradient", std::array{updates(out), reads(gradient), reads(weight), writes(scratch(g, out))},
         [g](Addresses data) {
           auto* images = reinterpret_cast<T*>(data[0]);
           const auto* gradients = reinterpret_cast<const T*>(data[1]);
           auto* columns = reinterpret_cast<T*>(data[3]);
           for (std::int64_t i = 0; i < g.batch; ++i) {
             multiply<T>(product(g.patch(), g.out_channels, g.out.count(), {.a_turned = true}), columns,
                         reinterpret_cast<const T*>(data[2]), gradients + i * g.result());
             add_columns(g, columns, images + i * g.image());
           }
         });
}

template <class T>
void weight_gradient(const Tensor& out, const Tensor& gradient, const Tensor& input, const Geometry& g) {
  launch("conv2d_weight_gradient", std::array{updates(out), reads(gradient), reads(input), writes(scratch(g, input))},
         [g](Addresses data) {
           const auto* gradients = reinterpret_cast<const T*>(data[1]);
           const auto* images = reinterpret_cast<const T*>(data[2]);
           auto* columns = reinterpret_cast<T*>(data[3]);
           kernels::Product p = product(g.out_channels, g.out.count(), g.patch(), {.b_turned = true});
           p.accumulate = true;
           for (std::int64_t i = 0; i < g.batch; ++i) {
             write_columns(g, images + i * g.image(), columns);
             multiply<T>(p, reinterpret_cast<T*>(data[0]), gradients + i * g.result(), columns);
           }
         });
}

void check(const char* op, const Tensor& a, const Tensor& b) {
  check_defined(op, {&a, &b});
  check_dense(op, {&a, &b});
  check_same_device(op, {&a, &b});
  check_same_dtype(op, a, b);
  check_floating(op, a);
  check_rank(op, a, 4);
  check_rank(op, b, 4);
}

void check_gradient(const char* op, const Tensor& gradient, const Geometry& g) {
  if (gradient.sizes() == Dims{g.batch, g.out_channels, g.out.height, g.out.width}) return;
  refuse(op, "the gradient's sizes are not those of the result", {&gradient});
}

// Checks the sizes of a tensor before it is created.
void check_sizes(const char* op, const Dims& sizes) {
  if (sizes.size() != 4) refuse(op, "sizes " + to_string(sizes) + " have not 4 dimensions", {});
  const Shape refuses_others(sizes);
}

void check_bias(const Tensor& bias, const Tensor& input, std::int64_t channels) {
  if (!bias.defined()) return;
  check_dense("conv2d", {&bias});
  check_same_device("conv2d", {&input, &bias});
  check_same_dtype("conv2d", input, bias);
  if (bias.dim() != 1 || bias.size(0) != channels) refuse("conv2d", "a bias for each channel is needed", {&bias});
}

bool is_turned_direct(const Geometry& g) {
  const bool is_convolution = g.stride.height == 1 && g.stride.width == 1 && g.padding.height < g.window.height &&
                              g.padding.width < g.window.width && g.image() > 0;
  return is_convolution && is_direct(turned(g));
}

// A one-element window without padding only sees every `stride`-th image element: it is a convolution of these with
// stride 1.
bool sees_few(const Geometry& g) {
  return g.window.count() == 1 && g.stride.count() > 1 && g.padding.height == 0 && g.padding.width == 0;
}

Tensor seen_of(const Tensor& images, const Geometry& g) {
  const Dims& strides = images.strides();
  return as_strided(images, {g.batch, g.in_channels, g.out.height, g.out.width},
                    {strides[0], strides[1], strides[2] * g.stride.height, strides[3] * g.stride.width},
                    images.strided().offset);
}

Tensor spread_gradient(const Tensor& gradient, const Tensor& weight, const Dims& input_sizes, const Geometry& g) {
  const Tensor out = zeros(input_sizes, gradient.options());
  if (out.numel() == 0 || gradient.numel() == 0) return out;
  const Dims seen{g.batch, g.in_channels, g.out.height, g.out.width};
  copy_(seen_of(out, g), conv2d_input_gradient(gradient, weight, seen));
  return out;
}

}  // namespace

Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options) {
  check("conv2d", input, weight);
  const Geometry g = geometry_of("conv2d", input.sizes(), weight.sizes(), options);
  check_bias(bias, input, g.out_channels);
  if (sees_few(g)) return conv2d(seen_of(input, g), weight, bias);
  const Tensor out = empty({g.batch, g.out_channels, g.out.height, g.out.width}, input.options());
  if (out.numel() > 0 && g.patch() > 0) {
    if (is_direct(g)) {
      convolve_directly(out, contiguous(input), contiguous(weight), bias.defined() ? contiguous(bias) : bias, g);
      return out;
    }
    const auto run = input.dtype() == DType::F32 ? &forward<float> : &forward<double>;
    run(out, contiguous(input), contiguous(weight), g);
  } else {
    fill_(out, 0);
  }
  return bias.defined() ? add(out, view(bias, {g.out_channels, 1, 1})) : out;
}

Tensor conv2d_input_gradient(const Tensor& gradient, const Tensor& weight, const Dims& input_sizes,
                             const Conv2dOptions& options) {
  check("conv2d_input_gradient", gradient, weight);
  check_sizes("conv2d_input_gradient", input_sizes);
  const Geometry g = geometry_of("conv2d_input_gradient", input_sizes, weight.sizes(), options);
  check_gradient("conv2d_input_gradient", gradient, g);
  if (sees_few(g)) return spread_gradient(gradient, weight, input_sizes, g);
  if (gradient.numel() > 0 && is_turned_direct(g)) {
    const Tensor out = empty(input_sizes, gradient.options());
    convolve_turned(out, contiguous(gradient), contiguous(weight), turned(g));
    return out;
  }
  const Tensor out = zeros(input_sizes, gradient.options());
  if (out.numel() == 0 || gradient.numel() == 0) return out;
  const auto run = gradient.dtype() == DType::F32 ? &input_gradient<float> : &input_gradient<double>;
  run(out, contiguous(gradient), contiguous(weight), g);
  return out;
}

Tensor conv2d_weight_gradient(const Tensor& gradient, const Tensor& input, const Dims& weight_sizes,
                              const Conv2dOptions& options) {
  check("conv2d_weight_gradient", gradient, input);
  check_sizes("conv2d_weight_gradient", weight_sizes);
  const Geometry g = geometry_of("conv2d_weight_gradient", input.sizes(), weight_sizes, options);
  check_gradient("conv2d_weight_gradient", gradient, g);
  if (sees_few(g)) return conv2d_weight_gradient(gradient, seen_of(input, g), weight_sizes);
  if (gradient.numel() > 0 && g.patch() > 0 && is_weight_gradient_by_channels(g)) {
    const Tensor out = empty(weight_sizes, gradient.options());
    make_weight_gradient(out, contiguous(gradient), contiguous(input), g);
    return out;
  }
  const Tensor out = zeros(weight_sizes, gradient.options());
  if (out.numel() == 0 || gradient.numel() == 0) return out;
  const auto run = gradient.dtype() == DType::F32 ? &weight_gradient<float> : &weight_gradient<double>;
  run(out, contiguous(gradient), contiguous(input), g);
  return out;
}

}  // namespace distrun::tensor::plain

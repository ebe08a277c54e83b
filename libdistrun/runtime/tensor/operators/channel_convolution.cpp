#include <distrun/runtime/tensor/operators/channel_convolution.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>

#include <distrun/runtime/tensor/core/empty.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/parallel.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/operators/channel_plan.hpp>

namespace distrun::tensor {
namespace {

using kernels::kPanelColumns;
using kernels::kPanelRows;

constexpr std::int64_t kBlock = ChannelPlan::kBlock;

// One step of the multiplication: a block of output channels with some input channels.
struct Step {
  std::int64_t block, first, end;
};

Step begin_of(const ChannelPlan& plan) { return {0, 0, std::min(plan.channels, plan.in_channels)}; }

// After the last step, the block's number is plan.blocks().
Step next_of(const ChannelPlan& plan, const Step& step) {
  const bool is_last = step.end == plan.in_channels;
  const std::int64_t first = is_last ? 0 : step.end;
  return {step.block + (is_last ? 1 : 0), first, std::min(first + plan.channels, plan.in_channels)};
}

// A small weight is packed once for all images; of a large one each step packs its part.
bool is_packed_once(const ChannelPlan& plan) {
  constexpr std::int64_t kSmall = std::int64_t{1} << 18;  // elements
  return plan.blocks() * kBlock * plan.patch() <= kSmall;
}

// Sizes in elements of the parts of the scratch memory, in this order; the lanes come last.
struct Scratch {
  std::int64_t plus;                              // the bias or zeros
  std::int64_t packed;                            // the whole weight
  std::int64_t images, results, packed_for_step;  // per lane
  std::int64_t lanes;

  std::int64_t lane() const { return images + results + packed_for_step; }
  std::int64_t count() const { return plus + packed + lanes * lane(); }
};

Scratch scratch_of(const ChannelPlan& plan) {
  const bool once = is_packed_once(plan);
  return {plan.blocks() * kBlock,
          once ? plan.blocks() * kBlock * plan.patch() : 0,
          plan.images * plan.image(),
          (plan.chunk() + 1) * kBlock,  // with one row for discarded results
          once ? 0 : plan.channels * plan.window.count() * kBlock,
          std::min<std::int64_t>({threads(), lanes_of(plan), (plan.batch - 1) / plan.images + 1})};
}

// The part of the weight that a step needs: equal runs of elements.
template <class T>
struct Runs {
  const T* begin;
  std::int64_t count, distance, length;
};

template <class T>
Runs<T> runs_of(const ChannelPlan& plan, const Step& step, const T* weight) {
  const std::int64_t window = plan.window.count(), channels = plan.channels_of(step.block);
  if (!plan.is_turned) {
    return {weight + step.block * kBlock * plan.patch() + step.first * window, channels, plan.patch(),
            (step.end - step.first) * window};
  }
  return {weight + (step.first * plan.out_channels + step.block * kBlock) * window, step.end - step.first,
          plan.out_channels * window, channels * window};
}

// Packs a step's weight: one row per window element and channel.
template <class T>
void pack(const ChannelPlan& plan, const Step& step, const T* weight, T* out) {
  const std::int64_t channels = plan.channels_of(step.block), window = plan.window.count();
  const Runs<T> runs = runs_of(plan, step, weight);
  if (channels % kPanelColumns != 0) std::fill_n(out, (step.end - step.first) * window * plan.row(), T{0});
  if (!plan.is_turned) return turn(runs.begin, runs.length, runs.count, runs.distance, out, plan.row());
  for (std::int64_t run = 0; run < runs.count; ++run) {
    const T* const in = runs.begin + run * runs.distance;
    for (std::int64_t element = 0; element < window; ++element, out += plan.row()) {
      for (std::int64_t i = 0; i < channels; ++i) out[i] = in[i * window + element];
    }
  }
}

// Prefetches the next step's weight during the current step.
template <class T>
class Ahead {
 public:
  Ahead() = default;
  // Spreads the prefetches over this many calls of fetch().
  Ahead(const Runs<T>& runs, std::int64_t calls)
      : runs_(runs), each_(runs.count * (runs.length / kLine + 1) / std::max<std::int64_t>(calls, 1) + 1) {}

  void fetch() {
    for (std::int64_t i = 0; i < each_ && runs_.count > 0; ++i) {
      __builtin_prefetch(runs_.begin + at_);
      at_ += kLine;
      if (at_ <= runs_.length) continue;
      at_ = 0;
      runs_.begin += runs_.distance;
      --runs_.count;
    }
  }

 private:
  static constexpr std::int64_t kLine = 64 / sizeof(T);

  Runs<T> runs_{};
  std::int64_t each_ = 0, at_ = 0;
};

// The data of one chunk.
template <class T>
struct Chunk {
  const T* images;  // at the first place
  std::int64_t places;
  T *results, *in_vain;
};

// Adds a step's products to the results of one part; the first step starts from the row `plus`.
template <class T>
void multiply_part(const ChannelPlan& plan, const Part& part, kernels::GatheredPanel product, const Chunk<T>& chunk,
                   Ahead<T>& ahead) {
  const auto multiply = kernels::table().panels->multiply_gathered[kernels::floating_place(dtype_of<T>)];
  const std::int64_t places = ChannelPlan::places_in(part, chunk.places);
  product.factors = part.factors.data();
  product.inner *= static_cast<std::int64_t>(part.elements.size());
  for (std::int64_t first = 0; first < places; first += kPanelRows) {
    product.rows = std::min(kPanelRows, places - first);
    for (std::int64_t i = 0; i < kPanelRows; ++i) {
      const auto place = static_cast<std::size_t>(std::min(first + i, places - 1));
      product.a_rows[i] = chunk.images + part.places[place];
      product.c_rows[i] = first + i < places ? chunk.results + part.results[place] * plan.row() : chunk.in_vain;
    }
    multiply(product);
    ahead.fetch();
  }
}

template <class T>
void multiply_step(const ChannelPlan& plan, const Step& step, const T* packed, const T* plus, Chunk<T> chunk,
                   Ahead<T> ahead) {
  kernels::GatheredPanel product;
  product.b = packed;
  product.columns = plan.columns_of(step.block);
  product.inner = step.end - step.first;  // channels
  product.plus = plus + step.block * kBlock;
  product.accumulate = step.first > 0;
  chunk.images += step.first * plan.padded.channel();
  for (const Part& part : plan.parts) multiply_part(plan, part, product, chunk, ahead);
}

// Stores the results of a block, without padding channels.
template <class T>
void store_block(const ChannelPlan& plan, std::int64_t block, const Chunk<T>& chunk, std::int64_t images, T* out) {
  const std::int64_t places = chunk.places / images;
  for (std::int64_t i = 0; i < images; ++i) {
    turn(chunk.results + i * places * plan.row(), plan.channels_of(block), places, plan.row(),
         out + i * plan.result() + block * kBlock * plan.out.count(), plan.out.count());
  }
}

// Operands of the convolution, including the packed weight.
template <class T>
struct Operands {
  const T *input, *weight, *plus, *packed;
  T* out;
};

// `out` is the result of the chunk's first place.
template <class T>
void convolve_chunk(const ChannelPlan& plan, const Operands<T>& of, const Chunk<T>& chunk, std::int64_t images,
                    T* packed_for_step, T* out) {
  const std::int64_t panels = (chunk.places - 1) / kPanelRows + 1;
  for (Step step = begin_of(plan), next{}; step.block < plan.blocks(); step = next) {
    next = next_of(plan, step);
    const T* packed = packed_for_step;
    Ahead<T> ahead;
    if (is_packed_once(plan)) {
      packed = of.packed + step.block * kBlock * plan.patch() + step.first * plan.window.count() * plan.row();
    } else {
      pack(plan, step, of.weight, packed_for_step);
      if (next.block < plan.blocks()) ahead = Ahead<T>(runs_of(plan, next, of.weight), panels);
    }
    multiply_step(plan, step, packed, of.plus, chunk, ahead);
    if (next.block > step.block) store_block(plan, step.block, chunk, images, out);
  }
}

// Runs each chunk of a lane; lanes take groups of images in turn.
template <class T>
void run_lane(const ChannelPlan& plan, const Scratch& sizes, const Operands<T>& of, std::int64_t lane, T* scratch) {
  T *const images = scratch, *const results = images + sizes.images, *const packed = results + sizes.results;
  T* const in_vain = packed - kBlock;
  std::fill_n(images, sizes.images, T{0});
  std::fill_n(in_vain, kBlock, T{0});
  for (std::int64_t first = lane * plan.images; first < plan.batch; first += sizes.lanes * plan.images) {
    const std::int64_t count = std::min(plan.images, plan.batch - first);
    place_images(plan, of.input, first, count, images);
    for (std::int64_t row = 0; row < plan.out.height; row += plan.rows) {
      const std::int64_t places = count * std::min(plan.rows, plan.out.height - row) * plan.out.width;
      const Chunk<T> chunk{images + row / plan.row_step * plan.padded.plane.width, places, results, in_vain};
      convolve_chunk(plan, of, chunk, count, packed, of.out + first * plan.result() + row * plan.out.width);
    }
  }
}

template <class T>
void pack_all(const ChannelPlan& plan, const T* weight, T* packed) {
  for (Step step = begin_of(plan); step.block < plan.blocks(); step = next_of(plan, step)) {
    pack(plan, step, weight, packed);
    packed += (step.end - step.first) * plan.window.count() * plan.row();
  }
}

template <class T>
void run(const ChannelPlan& plan, const Scratch& sizes, Operands<T> of, const T* bias, T* scratch) {
  T *const plus = scratch, *const packed = plus + sizes.plus, *const lanes = packed + sizes.packed;
  of.plus = plus;
  of.packed = packed;
  std::fill_n(plus, sizes.plus, T{0});
  if (bias != nullptr) std::copy_n(bias, plan.out_channels, plus);
  if (is_packed_once(plan)) pack_all(plan, of.weight, packed);
  parallel_for(sizes.lanes, 1, [&](std::int64_t lane, std::int64_t end) {
    for (; lane < end; ++lane) run_lane(plan, sizes, of, lane, lanes + lane * sizes.lane());
  });
}

void launch_plan(const char* name, ChannelPlan plan, const Tensor& out, const Tensor& input, const Tensor& weight,
                 const Tensor& bias) {
  const Scratch sizes = scratch_of(plan);
  const Tensor scratch = plain::empty({sizes.count()}, out.options());
  const bool has_bias = bias.defined();
  with_floating(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch(name, std::array{writes(out), reads(input), reads(weight), reads(has_bias ? bias : weight), writes(scratch)},
           [plan = std::move(plan), sizes, has_bias](Addresses data) {
             const Operands<T> of{reinterpret_cast<const T*>(data[1]), reinterpret_cast<const T*>(data[2]), nullptr,
                                  nullptr, reinterpret_cast<T*>(data[0])};
             run(plan, sizes, of, has_bias ? reinterpret_cast<const T*>(data[3]) : nullptr,
                 reinterpret_cast<T*>(data[4]));
           });
  });
}

}  // namespace

bool is_by_channels(const Geometry& g) noexcept {
  return has_little_padding(padded_input(g)) && fills_vectors(g.out_channels);
}

void convolve_by_channels(const Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias,
                          const Geometry& g) {
  launch_plan("conv2d", channel_plan_of(g, threads()), out, input, weight, bias);
}

bool is_input_gradient_by_channels(const Geometry& g) noexcept {
  return g.stride.height <= g.window.height && g.stride.width <= g.window.width && g.image() > 0 &&
         has_little_padding(padded_gradient(g)) && fills_vectors(g.in_channels);
}

void make_input_gradient(const Tensor& out, const Tensor& gradient, const Tensor& weight, const Geometry& g) {
  launch_plan("conv2d_input_gradient", input_gradient_plan_of(g, threads()), out, gradient, weight, Tensor());
}

}  // namespace distrun::tensor

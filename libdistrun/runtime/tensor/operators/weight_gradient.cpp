#include <distrun/runtime/tensor/operators/weight_gradient.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include <distrun/runtime/tensor/core/empty.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/parallel.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/operators/channel_plan.hpp>

namespace distrun::tensor {
namespace {

using kernels::kPanelRows;

// Rows of the weight's gradient [patch, channels] that are summed over the same places.
struct Group {
  std::vector<std::int64_t> rows;         // window elements
  std::vector<std::int64_t> columns;      // their offsets from a place
  std::vector<kernels::Factors> factors;  // offsets of a chunk's places: in the padded images, and in the gradient

  std::int64_t panels() const { return (static_cast<std::int64_t>(rows.size()) - 1) / kPanelRows + 1; }
};

// The gradient is computed for each block of output channels. All blocks are kept until the last chunk has been added;
// with a single chunk they share their memory.
struct WeightPlan {
  ChannelPlan plan;
  std::vector<Group> groups{};

  bool is_one_chunk() const { return plan.images == plan.batch && plan.rows == plan.out.height; }
  std::int64_t panels() const {
    std::int64_t sum = 0;
    for (const Group& group : groups) sum += group.panels();
    return sum;
  }
  std::int64_t images() const { return plan.images * plan.image(); }
  std::int64_t gradient() const { return plan.chunk() * plan.row(); }
  // Has an extra row per group for discarded results.
  std::int64_t sums() const { return (plan.patch() + static_cast<std::int64_t>(groups.size())) * plan.row(); }
  std::int64_t scratch() const { return images() + gradient() + sums() * (is_one_chunk() ? 1 : plan.blocks()); }
};

// Offsets of the window elements from a place, within a channel.
std::vector<std::int64_t> columns_of_window(const ChannelPlan& plan) {
  std::vector<std::int64_t> columns;
  columns.reserve(static_cast<std::size_t>(plan.window.count()));
  for (std::int64_t y = 0; y < plan.window.height; ++y) {
    for (std::int64_t x = 0; x < plan.window.width; ++x) columns.push_back(plan.padded.at(0, y, x));
  }
  return columns;
}

// Window elements `first` .. end - 1 of all channels.
Group rows_of(const ChannelPlan& plan, const std::vector<std::int64_t>& columns, std::int64_t first, std::int64_t end) {
  Group group;
  group.rows.reserve(static_cast<std::size_t>(plan.in_channels * (end - first)));
  group.columns.reserve(static_cast<std::size_t>(plan.in_channels * (end - first)));
  for (std::int64_t channel = 0; channel < plan.in_channels; ++channel) {
    for (std::int64_t element = first; element < end; ++element) {
      group.rows.push_back(channel * plan.window.count() + element);
      group.columns.push_back(channel * plan.padded.channel() + columns[static_cast<std::size_t>(element)]);
    }
  }
  return group;
}

// A single group, including the zeros around the image.
Group whole_group(const ChannelPlan& plan, const std::vector<std::int64_t>& columns) {
  Group group = rows_of(plan, columns, 0, plan.window.count());
  group.factors.resize(static_cast<std::size_t>(plan.chunk()));
  for (const Part& part : plan.parts) {
    for (std::size_t i = 0; i < part.places.size(); ++i) {
      group.factors[static_cast<std::size_t>(part.results[i])] = {part.places[i], part.results[i] * plan.row()};
    }
  }
  return group;
}

bool is_seen(const Part& part, std::int64_t element) {
  return std::binary_search(part.elements.begin(), part.elements.end(), element);
}

// One group per window element, with the places where it lies inside the image, or with all if there are none.
std::vector<Group> groups_by_element(const ChannelPlan& plan, const std::vector<std::int64_t>& columns,
                                     const Group& whole) {
  std::vector<const Part*> part_of(whole.factors.size());
  for (const Part& part : plan.parts) {
    for (const std::int64_t result : part.results) part_of[static_cast<std::size_t>(result)] = &part;
  }
  std::vector<Group> groups;
  for (std::int64_t element = 0; element < plan.window.count(); ++element) {
    Group& group = groups.emplace_back(rows_of(plan, columns, element, element + 1));
    std::vector<bool> sees;
    for (const Part& part : plan.parts) sees.push_back(is_seen(part, element));
    for (std::size_t i = 0; i < part_of.size(); ++i) {
      if (sees[static_cast<std::size_t>(part_of[i] - plan.parts.data())]) group.factors.push_back(whole.factors[i]);
    }
    if (group.factors.empty()) group.factors = whole.factors;
  }
  return groups;
}

// Returns whether groups by element save more than creating them costs.
bool is_worth_groups(const ChannelPlan& plan) {
  std::int64_t factors = 0;
  for (const Part& part : plan.parts) factors += static_cast<std::int64_t>(part.places.size() * part.elements.size());
  const std::int64_t saved = up_to(plan.patch(), kernels::kPanelRowsLeast) * plan.chunk() -
                             up_to(plan.in_channels, kernels::kPanelRowsLeast) * factors;
  const std::int64_t chunks = ((plan.batch - 1) / plan.images + 1) * ((plan.out.height - 1) / plan.rows + 1);
  constexpr double kCycles = 1. / 16, kMake = 8;  // cycles per multiplication and per factor
  return static_cast<double>(saved) * static_cast<double>(plan.out_channels * chunks) * kCycles >
         static_cast<double>(factors) * kMake;
}

WeightPlan weight_plan_of(const Geometry& g) {
  WeightPlan of{channel_plan_of(g)};
  const std::vector<std::int64_t> columns = columns_of_window(of.plan);
  Group whole = whole_group(of.plan, columns);
  if (is_worth_groups(of.plan)) {
    of.groups = groups_by_element(of.plan, columns, whole);
  } else {
    of.groups.push_back(std::move(whole));
  }
  return of;
}

// Some places of one block of channels.
template <class T>
struct ChunkBlock {
  const T *images, *gradients;  // at the first place
  std::int64_t image_count, places, block;
};

// Computes one panel of a group; `product` has a row of the gradient for each place.
template <class T>
void make_panel(const WeightPlan& of, const Group& group, std::int64_t first, std::int64_t places,
                kernels::GatheredPanel product, const T* images, T* sums) {
  const auto multiply = kernels::table().panels->multiply_gathered[kernels::floating_place(dtype_of<T>)];
  const auto count = static_cast<std::int64_t>(group.rows.size());
  const std::int64_t in_vain = of.plan.patch() + (&group - of.groups.data());
  product.rows = std::min(kPanelRows, count - first);
  for (std::int64_t i = 0; i < kPanelRows; ++i) {
    const auto row = static_cast<std::size_t>(std::min(first + i, count - 1));
    product.a_rows[i] = images + group.columns[row];
    product.c_rows[i] = sums + (first + i < count ? group.rows[row] : in_vain) * of.plan.row();
  }
  product.factors = group.factors.data();
  product.inner = std::lower_bound(group.factors.begin(), group.factors.end(), places * of.plan.row(),
                                   [](const kernels::Factors& a, std::int64_t b) { return a.b < b; }) -
                  group.factors.begin();
  multiply(product);
}

// Adds a chunk to the block's sums; the first chunk sets them. `turned` is scratch for its gradient, with the channels
// of a place side by side.
template <class T>
void add_to_sums(const WeightPlan& of, const ChunkBlock<T>& chunk, bool is_first, T* turned, T* sums) {
  const ChannelPlan& plan = of.plan;
  const std::int64_t of_image = chunk.places / chunk.image_count;
  for (std::int64_t i = 0; i < chunk.image_count; ++i) {
    turn(chunk.gradients + i * plan.result() + chunk.block * ChannelPlan::kBlock * plan.out.count(), of_image,
         plan.channels_of(chunk.block), plan.out.count(), turned + i * of_image * plan.row(), plan.row());
  }
  kernels::GatheredPanel product;
  product.b = turned;
  product.columns = plan.columns_of(chunk.block);
  product.accumulate = !is_first;
  const std::int64_t of_panel = chunk.places * product.columns * kPanelRows;
  parallel_for(of.panels(), (kMultiplicationsEach - 1) / of_panel + 1, [&](std::int64_t panel, std::int64_t end) {
    for (const Group& group : of.groups) {
      for (; panel < end && panel < group.panels(); ++panel) {
        make_panel(of, group, panel * kPanelRows, chunk.places, product, chunk.images, sums);
      }
      panel -= group.panels();
      end -= group.panels();
      if (end <= 0) return;
    }
  });
}

template <class T>
void store_sums(const ChannelPlan& plan, std::int64_t block, const T* sums, T* out) {
  turn(sums, plan.channels_of(block), plan.patch(), plan.row(), out + block * ChannelPlan::kBlock * plan.patch(),
       plan.patch());
}

template <class T>
void run_weight_gradient(const WeightPlan& of, const T* gradients, const T* input, T* scratch, T* out) {
  const ChannelPlan& plan = of.plan;
  T *const images = scratch, *const turned = images + of.images(), *const all_sums = turned + of.gradient();
  const auto sums_of = [&](std::int64_t block) { return all_sums + (of.is_one_chunk() ? 0 : block * of.sums()); };
  std::fill_n(scratch, of.images() + of.gradient(), T{0});
  for (std::int64_t first = 0; first < plan.batch; first += plan.images) {
    const std::int64_t count = std::min(plan.images, plan.batch - first);
    place_images(plan, input, first, count, images);
    for (std::int64_t row = 0; row < plan.out.height; row += plan.rows) {
      const std::int64_t places = count * std::min(plan.rows, plan.out.height - row) * plan.out.width;
      const T* const of_chunk = gradients + first * plan.result() + row * plan.out.width;
      for (std::int64_t block = 0; block < plan.blocks(); ++block) {
        add_to_sums<T>(of, {images + row * plan.padded.plane.width, of_chunk, count, places, block},
                       first == 0 && row == 0, turned, sums_of(block));
        if (of.is_one_chunk()) store_sums(plan, block, sums_of(block), out);
      }
    }
  }
  if (of.is_one_chunk()) return;
  for (std::int64_t block = 0; block < plan.blocks(); ++block) store_sums(plan, block, sums_of(block), out);
}

}  // namespace

bool is_weight_gradient_by_channels(const Geometry& g) noexcept {
  return has_little_padding(padded_input(g)) && fills_vectors(g.out_channels) && fills_vectors(g.patch());
}

void make_weight_gradient(const Tensor& out, const Tensor& gradient, const Tensor& input, const Geometry& g) {
  WeightPlan of = weight_plan_of(g);
  const Tensor scratch = plain::empty({of.scratch()}, out.options());
  with_floating(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch("conv2d_weight_gradient", std::array{writes(out), reads(gradient), reads(input), writes(scratch)},
           [of = std::move(of)](Addresses data) {
             run_weight_gradient(of, reinterpret_cast<const T*>(data[1]), reinterpret_cast<const T*>(data[2]),
                                 reinterpret_cast<T*>(data[3]), reinterpret_cast<T*>(data[0]));
           });
  });
}

}  // namespace distrun::tensor

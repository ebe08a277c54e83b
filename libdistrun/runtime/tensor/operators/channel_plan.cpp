#include <distrun/runtime/tensor/operators/channel_plan.hpp>

#include <algorithm>
#include <utility>

#include <distrun/runtime/tensor/kernels/table.hpp>

namespace distrun::tensor {
namespace {

// Limits that keep what a block of channels needs in the cache.
constexpr std::int64_t kPlaces = 1024;                   // per chunk, if images have that many
constexpr std::int64_t kImages = std::int64_t{1} << 18;  // image elements per chunk
constexpr std::int64_t kInner = 512;                     // window elements multiplied at a time

// Returns the most images that one lane takes; with more lanes each may take fewer.
std::int64_t most_images(const ChannelPlan& plan) {
  const std::int64_t most = std::min(kPlaces / plan.out.count(), kImages / plan.image());
  return std::clamp<std::int64_t>(most, 1, plan.batch);
}

void choose_chunk(ChannelPlan& plan, int lanes_at_most) {
  const std::int64_t lanes = std::min<std::int64_t>(lanes_of(plan), lanes_at_most);
  plan.images = std::min(most_images(plan), (plan.batch - 1) / lanes + 1);
  const std::int64_t rows = std::max<std::int64_t>(kPlaces / (plan.out.width * plan.row_step), 1) * plan.row_step;
  plan.rows = std::min(rows, plan.out.height);
}

// A range of window elements along one side, every `step`-th.
struct Seen {
  std::int64_t first, end;
  bool operator==(const Seen&) const = default;
};

// Geometry along one side of the image: the window elements that each place sees.
struct Side {
  std::int64_t size, window, places, stride, padding;  // of the convolution; size is the image's
  bool is_gradient;                                    // places are input elements, and they see results

  std::int64_t step() const { return is_gradient ? stride : 1; }
  std::int64_t count(const Seen& seen) const { return (seen.end - seen.first + step() - 1) / step(); }
  // Includes elements beyond the border, which are zeros.
  Seen whole(std::int64_t place) const { return {is_gradient ? (place + padding) % stride : 0, window}; }
  // Excludes elements beyond the border, unless the place sees nothing else.
  Seen inside(std::int64_t place) const {
    const Seen seen = is_gradient ? inside_results(place) : inside_image(place);
    return seen.first < seen.end ? seen : whole(place);
  }

 private:
  Seen inside_image(std::int64_t place) const {
    const std::int64_t begin = place * stride - padding;
    return {std::max<std::int64_t>(-begin, 0), std::min(size - begin, window)};
  }
  Seen inside_results(std::int64_t place) const {
    const std::int64_t last = (place + padding) / stride, rest = (place + padding) % stride;
    return {rest + std::max<std::int64_t>(last - places + 1, 0) * stride, std::min(window, rest + (last + 1) * stride)};
  }
};

// Groups places that see the same elements.
struct Kinds {
  std::vector<Seen> seen;
  std::vector<std::size_t> of;  // by place
  std::vector<std::int64_t> places;

  void add(const Seen& by_place) {
    const auto at = static_cast<std::size_t>(std::find(seen.begin(), seen.end(), by_place) - seen.begin());
    if (at == seen.size()) {
      seen.push_back(by_place);
      places.push_back(0);
    }
    of.push_back(at);
    ++places[at];
  }
};

Kinds kinds_of(const Side& side, std::int64_t places, bool whole) {
  Kinds kinds;
  kinds.of.reserve(static_cast<std::size_t>(places));
  for (std::int64_t place = 0; place < places; ++place) kinds.add(whole ? side.whole(place) : side.inside(place));
  return kinds;
}

// Both sides, and the grid of parts that they form.
struct Sides {
  Side height, width;
};
struct Grid {
  Kinds rows, columns;

  // Counts a chunk's multiplications per output channel, including the setup of each panel. Partial panels count as
  // whole.
  std::int64_t work(const ChannelPlan& plan, const Sides& sides) const {
    const std::int64_t images = most_images(plan), begin = 128 / plan.row();
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < rows.seen.size(); ++i) {
      for (std::size_t j = 0; j < columns.seen.size(); ++j) {
        const std::int64_t elements = sides.height.count(rows.seen[i]) * sides.width.count(columns.seen[j]);
        sum += up_to(images * rows.places[i] * columns.places[j], kernels::kPanelRowsLeast) *
               (elements * plan.in_channels + begin);
      }
    }
    return sum;
  }
};

// Returns the grid with the least work, independent of the number of threads. Rows of places are only distinguished if
// a chunk has all of them.
Grid grid_of(const ChannelPlan& plan, const Sides& sides) {
  Grid best{kinds_of(sides.height, plan.rows, true), kinds_of(sides.width, plan.out.width, true)};
  const auto consider = [&](Grid other) {
    if (other.work(plan, sides) < best.work(plan, sides)) best = std::move(other);
  };
  const Kinds rows = best.rows, columns = best.columns;
  const Kinds inner_columns = kinds_of(sides.width, plan.out.width, false);
  const Kinds inner_rows = plan.rows < plan.out.height ? rows : kinds_of(sides.height, plan.rows, false);
  const bool has_columns = inner_columns.seen != columns.seen, has_rows = inner_rows.seen != rows.seen;
  if (has_columns) consider({rows, inner_columns});
  if (has_rows) consider({inner_rows, columns});
  if (has_columns && has_rows) consider({inner_rows, inner_columns});
  return best;
}

// Divides the input channels evenly.
void choose_channels(ChannelPlan& plan) {
  const std::int64_t most = std::clamp<std::int64_t>(kInner / plan.window.count(), 1, plan.in_channels);
  const std::int64_t times = (plan.in_channels - 1) / most + 1;
  plan.channels = (plan.in_channels - 1) / times + 1;
}

// `column(y, x)` returns the offset of a window element from a place.
template <class Column>
void add_elements(const ChannelPlan& plan, const Sides& sides, const Seen& rows, const Seen& columns, Column column,
                  Part& part) {
  std::vector<std::int64_t> of_channel;
  for (std::int64_t y = rows.first; y < rows.end; y += sides.height.step()) {
    for (std::int64_t x = columns.first; x < columns.end; x += sides.width.step()) {
      part.elements.push_back(y * plan.window.width + x);
      of_channel.push_back(column(y, x));
    }
  }
  part.factors.reserve(of_channel.size() * static_cast<std::size_t>(plan.channels));
  for (std::int64_t channel = 0; channel < plan.channels; ++channel) {
    for (std::size_t i = 0; i < of_channel.size(); ++i) {
      part.factors.push_back({channel * plan.padded.channel() + of_channel[i],
                              (channel * plan.window.count() + part.elements[i]) * plan.row()});
    }
  }
}

// A place's offset in the padded image is the sum of its row's and its column's.
struct PlaceAt {
  std::vector<std::int64_t> rows, columns;
};

template <class Column>
void make_parts(ChannelPlan& plan, const Sides& sides, const PlaceAt& at, Column column) {
  const Grid grid = grid_of(plan, sides);
  const std::size_t kinds = grid.columns.seen.size();
  for (std::size_t i = 0; i < grid.rows.seen.size(); ++i) {
    for (std::size_t j = 0; j < kinds; ++j) {
      Part& part = plan.parts.emplace_back();
      add_elements(plan, sides, grid.rows.seen[i], grid.columns.seen[j], column, part);
      const auto count = static_cast<std::size_t>(plan.images * grid.rows.places[i] * grid.columns.places[j]);
      part.places.reserve(count);
      part.results.reserve(count);
    }
  }
  std::int64_t result = 0;
  for (std::int64_t image = 0; image < plan.images; ++image) {
    for (std::size_t y = 0; y < at.rows.size(); ++y) {
      const std::int64_t row = image * plan.image() + at.rows[y];
      Part* const parts = plan.parts.data() + grid.rows.of[y] * kinds;
      for (std::size_t x = 0; x < at.columns.size(); ++x) {
        Part& part = parts[grid.columns.of[x]];
        part.places.push_back(row + at.columns[x]);
        part.results.push_back(result++);
      }
    }
  }
}

Sides sides_of(const Geometry& g, bool is_gradient) {
  return {{g.in.height, g.window.height, g.out.height, g.stride.height, g.padding.height, is_gradient},
          {g.in.width, g.window.width, g.out.width, g.stride.width, g.padding.width, is_gradient}};
}

ChannelPlan plan_without_parts(const Geometry& g, int lanes_at_most) {
  ChannelPlan plan{g.batch, g.in_channels, g.out_channels, g.window, g.out, padded_input(g), false, 1};
  choose_chunk(plan, lanes_at_most);
  choose_channels(plan);
  return plan;
}

}  // namespace

std::int64_t ChannelPlan::channels_of(std::int64_t block) const {
  return std::min(kBlock, out_channels - block * kBlock);
}

std::int64_t ChannelPlan::columns_of(std::int64_t block) const {
  return up_to(channels_of(block), kernels::kPanelColumns);
}

std::int64_t ChannelPlan::places_in(const Part& part, std::int64_t places) {
  return std::lower_bound(part.results.begin(), part.results.end(), places) - part.results.begin();
}

bool fills_vectors(std::int64_t channels) noexcept {
  return is_worth(up_to(channels, kernels::kPanelColumns), channels);
}

std::int64_t lanes_of(const ChannelPlan& plan) {
  const double multiplications = static_cast<double>(plan.batch * plan.result()) * static_cast<double>(plan.patch());
  return static_cast<std::int64_t>(
      std::clamp(multiplications / kMultiplicationsEach, 1.0, static_cast<double>(plan.batch)));
}

ChannelPlan channel_plan_of(const Geometry& g, int lanes_at_most) {
  ChannelPlan plan = plan_without_parts(g, lanes_at_most);
  PlaceAt at;
  for (std::int64_t y = 0; y < plan.rows; ++y) at.rows.push_back(y * plan.padded.plane.width);
  for (std::int64_t x = 0; x < g.out.width; ++x) at.columns.push_back(x);
  make_parts(plan, sides_of(g, false), at, [&](std::int64_t y, std::int64_t x) { return plan.padded.at(0, y, x); });
  return plan;
}

double cost_by_channels(const Geometry& g) {
  const ChannelPlan plan = plan_without_parts(g, 1);
  const Sides sides = sides_of(g, false);
  const auto places = static_cast<double>(most_images(plan) * plan.rows * plan.out.width);
  const auto columns = static_cast<double>(up_to(g.out_channels, kernels::kPanelColumns));
  // Cycles: a column, an odd half vector, and storing a column, each per place.
  constexpr double kColumn = 1. / 16, kHalf = 3. / 16, kStore = 3. / 8;
  constexpr double kPlan = 12000, kPlace = 12;  // cycles to create the plan
  const bool has_half = up_to(g.out_channels, kernels::kPanelColumns) % (2 * kernels::kPanelColumns) != 0;
  const auto work = static_cast<double>(grid_of(plan, sides).work(plan, sides));
  const double of_chunk = work * (columns * kColumn + (has_half ? kHalf : 0)) + places * columns * kStore;
  return of_chunk / (places * static_cast<double>(g.out_channels)) +
         (kPlan + kPlace * places) / static_cast<double>(g.batch * g.result());
}

ChannelPlan input_gradient_plan_of(const Geometry& g, int lanes_at_most) {
  const Plane stride = g.stride, padding = g.padding;
  ChannelPlan plan{g.batch, g.out_channels, g.in_channels, g.window, g.in, padded_gradient(g), true, stride.height};
  choose_chunk(plan, lanes_at_most);
  choose_channels(plan);
  const PaddedImage& padded = plan.padded;
  PlaceAt at;
  for (std::int64_t y = 0; y < plan.rows; ++y) {
    at.rows.push_back((y + padding.height) / stride.height * padded.plane.width);
  }
  for (std::int64_t x = 0; x < g.in.width; ++x) at.columns.push_back((x + padding.width) / stride.width);
  make_parts(plan, sides_of(g, true), at, [&](std::int64_t y, std::int64_t x) {
    return padded.at(0, padded.before.height - y / stride.height, padded.before.width - x / stride.width);
  });
  return plan;
}

template <class T>
void place_images(const ChannelPlan& plan, const T* input, std::int64_t first, std::int64_t count, T* images) {
  const std::int64_t of_input = plan.in_channels * plan.padded.image.count();
  for (std::int64_t i = 0; i < count; ++i) {
    place_image(plan.padded, plan.in_channels, input + (first + i) * of_input, images + i * plan.image());
  }
}

template void place_images(const ChannelPlan&, const float*, std::int64_t, std::int64_t, float*);
template void place_images(const ChannelPlan&, const double*, std::int64_t, std::int64_t, double*);

}  // namespace distrun::tensor

#include <distrun/runtime/tensor/operators/channel_plan.hpp>

#include <algorithm>
#include <utility>

#include <distrun/runtime/tensor/kernels/table.hpp>

namespace distrun::tensor {
namespace {

// Limits that keep what a block of channels needs in the cache.
constexpr std::int64_t kPlaces = 1024;                   // per chunk, if images have that many
constexpr std::int64_t kImages = std::int64_t{1} << 18;  // image elements per chunk

std::int64_t images_of_chunk(const ChannelPlan& plan) {
  const std::int64_t most = std::min(kPlaces / plan.out.count(), kImages / plan.image());
  return std::clamp<std::int64_t>(most, 1, plan.batch);
}

// A range of window elements along one side.
struct Seen {
  std::int64_t first, end;
  std::int64_t count() const { return end - first; }
  bool operator==(const Seen&) const = default;
};

// Geometry along one side of the image: the window elements that each place sees.
struct Side {
  std::int64_t size, window, stride, padding;

  // Includes elements beyond the border, which are zeros.
  Seen whole() const { return {0, window}; }
  // Excludes elements beyond the border, unless the place sees nothing else.
  Seen inside(std::int64_t place) const {
    const std::int64_t begin = place * stride - padding;
    const Seen seen{std::max<std::int64_t>(-begin, 0), std::min(size - begin, window)};
    return seen.first < seen.end ? seen : whole();
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
  for (std::int64_t place = 0; place < places; ++place) kinds.add(whole ? side.whole() : side.inside(place));
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
  std::int64_t work(const ChannelPlan& plan) const {
    const std::int64_t begin = 128 / plan.row();
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < rows.seen.size(); ++i) {
      for (std::size_t j = 0; j < columns.seen.size(); ++j) {
        const std::int64_t elements = rows.seen[i].count() * columns.seen[j].count();
        sum += up_to(plan.images * rows.places[i] * columns.places[j], kernels::kPanelRowsLeast) *
               (elements * plan.in_channels + begin);
      }
    }
    return sum;
  }
};

// Returns the grid with the least work. Rows of places are only distinguished if a chunk has all of them.
Grid grid_of(const ChannelPlan& plan, const Sides& sides) {
  Grid best{kinds_of(sides.height, plan.rows, true), kinds_of(sides.width, plan.out.width, true)};
  const auto consider = [&](Grid other) {
    if (other.work(plan) < best.work(plan)) best = std::move(other);
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

void add_elements(const ChannelPlan& plan, const Seen& rows, const Seen& columns, Part& part) {
  for (std::int64_t y = rows.first; y < rows.end; ++y) {
    for (std::int64_t x = columns.first; x < columns.end; ++x) part.elements.push_back(y * plan.window.width + x);
  }
}

void make_parts(ChannelPlan& plan, const Sides& sides) {
  const Grid grid = grid_of(plan, sides);
  const std::size_t kinds = grid.columns.seen.size();
  for (std::size_t i = 0; i < grid.rows.seen.size(); ++i) {
    for (std::size_t j = 0; j < kinds; ++j) {
      Part& part = plan.parts.emplace_back();
      add_elements(plan, grid.rows.seen[i], grid.columns.seen[j], part);
      const auto count = static_cast<std::size_t>(plan.images * grid.rows.places[i] * grid.columns.places[j]);
      part.places.reserve(count);
      part.results.reserve(count);
    }
  }
  std::int64_t result = 0;
  for (std::int64_t image = 0; image < plan.images; ++image) {
    for (std::int64_t y = 0; y < plan.rows; ++y) {
      const std::int64_t row = image * plan.image() + y * plan.padded.plane.width;
      Part* const parts = plan.parts.data() + grid.rows.of[static_cast<std::size_t>(y)] * kinds;
      for (std::int64_t x = 0; x < plan.out.width; ++x) {
        Part& part = parts[grid.columns.of[static_cast<std::size_t>(x)]];
        part.places.push_back(row + x);
        part.results.push_back(result++);
      }
    }
  }
}

}  // namespace

std::int64_t ChannelPlan::channels_of(std::int64_t block) const {
  return std::min(kBlock, out_channels - block * kBlock);
}

std::int64_t ChannelPlan::columns_of(std::int64_t block) const {
  return up_to(channels_of(block), kernels::kPanelColumns);
}

bool fills_vectors(std::int64_t channels) noexcept {
  return is_worth(up_to(channels, kernels::kPanelColumns), channels);
}

ChannelPlan channel_plan_of(const Geometry& g) {
  ChannelPlan plan{g.batch, g.in_channels, g.out_channels, g.window, g.out, padded_input(g)};
  plan.images = images_of_chunk(plan);
  plan.rows = std::min(std::max<std::int64_t>(kPlaces / g.out.width, 1), g.out.height);
  make_parts(plan, {{g.in.height, g.window.height, g.stride.height, g.padding.height},
                    {g.in.width, g.window.width, g.stride.width, g.padding.width}});
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

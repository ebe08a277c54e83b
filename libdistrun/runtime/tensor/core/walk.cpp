#include <distrun/runtime/tensor/core/walk.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <distrun/common/base/check.hpp>
#include <distrun/runtime/tensor/core/parallel.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>

namespace distrun::tensor {

Dims expanded_strides(const StridedImpl& tensor, const Dims& sizes) {
  const std::size_t shift = sizes.size() - tensor.sizes.size();
  Dims strides(sizes.size(), 0);
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    const bool repeats = tensor.sizes[i] == 1 && sizes[i + shift] != 1;
    strides[i + shift] = repeats ? 0 : tensor.strides[i];
  }
  return strides;
}

Walk::Walk(const Dims& sizes, std::initializer_list<const StridedImpl*> blocks)
    : blocks_(blocks.size()), sizes_(sizes), count_(device::count_of(sizes)) {
  DISTRUN_ASSERT(blocks_ <= kMost);
  std::size_t block = 0;
  for (const StridedImpl* tensor : blocks) {
    Dims& strides = strides_[block];
    dtypes_[block++] = tensor == nullptr ? DType::Bool : tensor->dtype;
    strides = tensor == nullptr ? Dims(sizes.size(), 0) : expanded_strides(*tensor, sizes);
    const auto bytes = tensor == nullptr ? 0 : static_cast<std::int64_t>(size_of(tensor->dtype));
    for (std::int64_t& stride : strides) stride *= bytes;
  }
  drop_and_order();
  join();
}

// Sorts larger strides first. The next block decides between equal ones, such as the zeros of a repeated block.
void Walk::drop_and_order() {
  const auto comes_before = [this](std::size_t a, std::size_t b) {
    for (std::size_t block = 0; block < blocks_; ++block) {
      const std::int64_t first = std::abs(strides_[block][a]), second = std::abs(strides_[block][b]);
      if (first != second) return first > second;
    }
    return false;
  };
  const auto move = [this](std::size_t from, std::size_t to) {
    std::swap(sizes_[from], sizes_[to]);
    for (std::size_t block = 0; block < blocks_; ++block) std::swap(strides_[block][from], strides_[block][to]);
  };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    if (sizes_[i] == 1) continue;
    move(i, kept);
    for (std::size_t at = kept++; at > 0 && comes_before(at, at - 1); --at) move(at, at - 1);
  }
  while (sizes_.size() > kept) {
    sizes_.erase(kept);
    for (std::size_t block = 0; block < blocks_; ++block) strides_[block].erase(kept);
  }
}

void Walk::join() {
  const auto goes_on = [this](std::size_t dim) {
    for (std::size_t block = 0; block < blocks_; ++block) {
      if (strides_[block][dim] != strides_[block][dim + 1] * sizes_[dim + 1]) return false;
    }
    return true;
  };
  for (std::size_t dim = sizes_.size(); dim-- > 1;) {
    if (!goes_on(dim - 1)) continue;
    sizes_[dim - 1] *= sizes_[dim];
    sizes_.erase(dim);
    for (std::size_t block = 0; block < blocks_; ++block) {
      strides_[block][dim - 1] = strides_[block][dim];
      strides_[block].erase(dim);
    }
  }
}

// If a block has its neighbours in the second-to-last dimension, as in a transposed matrix, each element of a long run
// would be in a separate cache line, which is evicted before its neighbour is read.
bool Walk::is_turned(std::size_t block) const noexcept {
  constexpr std::int64_t kLine = 64;
  const std::size_t last = sizes_.size() - 1;
  return std::abs(strides_[block][last]) >= kLine && std::abs(strides_[block][last - 1]) < kLine;
}

void Walk::run(kernels::Run kernel, std::byte* const* data, const void* parameter) const {
  if (count_ <= kElementsEach || sizes_.empty()) return run_part(kernel, data, parameter);
  const std::int64_t rows = sizes_[0], row = count_ / rows;
  parallel_for(rows, (kElementsEach - 1) / row + 1, [&](std::int64_t first, std::int64_t end) {
    Walk part = *this;
    part.sizes_[0] = end - first;
    part.count_ = part.sizes_[0] * row;
    std::array<std::byte*, kMost> at{};
    for (std::size_t block = 0; block < blocks_; ++block) at[block] = data[block] + first * strides_[block][0];
    part.run_part(kernel, at.data(), parameter);
  });
}

void Walk::run_part(kernels::Run kernel, std::byte* const* data, const void* parameter) const {
  constexpr std::int64_t kWorthIt = 1 << 10;
  if (count_ == 0) return;
  std::array<std::byte*, kMost> at{};
  for (std::size_t block = 0; block < blocks_; ++block) at[block] = data[block];
  if (sizes_.empty()) {
    constexpr std::array<std::int64_t, kMost> kNone{};
    return kernel(at.data(), {kNone.data(), 1}, {}, parameter);
  }
  if (sizes_.size() >= 2 && count_ >= kWorthIt) {
    for (std::size_t block = 1; block < blocks_; ++block) {
      if (is_turned(block)) return run_turned(kernel, at, parameter);
    }
    if (has_short_repeated_rows()) return run_repeated(kernel, at, parameter);
  }
  run_rows(kernel, at, parameter);
}

// Calls body(at) for each index of the first dimensions.
template <class Body>
void Walk::for_each_outer(std::size_t dims, std::array<std::byte*, kMost> at, const Body& body) const {
  if (dims == 0) return body(at);
  const std::size_t last = dims - 1;
  Dims index(last, 0);
  for (;;) {
    std::array<std::byte*, kMost> row = at;
    for (std::int64_t i = 0; i < sizes_[last]; ++i) {
      body(row);
      for (std::size_t block = 0; block < blocks_; ++block) row[block] += strides_[block][last];
    }
    std::size_t dim = last;
    for (; dim > 0; --dim) {
      for (std::size_t block = 0; block < blocks_; ++block) at[block] += strides_[block][dim - 1];
      if (++index[dim - 1] < sizes_[dim - 1]) break;
      index[dim - 1] = 0;
      for (std::size_t block = 0; block < blocks_; ++block) at[block] -= strides_[block][dim - 1] * sizes_[dim - 1];
    }
    if (dim == 0) return;
  }
}

void Walk::run_rows(kernels::Run kernel, std::array<std::byte*, kMost> at, const void* parameter) const {
  const std::size_t last = sizes_.size() - 1;
  std::array<std::int64_t, kMost> inner{}, down{};
  for (std::size_t block = 0; block < blocks_; ++block) inner[block] = strides_[block][last];
  if (last == 0) return kernel(at.data(), {inner.data(), sizes_[last]}, {}, parameter);
  for (std::size_t block = 0; block < blocks_; ++block) down[block] = strides_[block][last - 1];
  for_each_outer(last - 1, at, [&](const std::array<std::byte*, kMost>& matrix) {
    kernel(matrix.data(), {inner.data(), sizes_[last]}, {down.data(), sizes_[last - 1]}, parameter);
  });
}

namespace {

// These apply to the last two dimensions.
constexpr std::int64_t kTile = 4096, kTileColumns = 128;  // elements, and columns at most
constexpr std::int64_t kInCache = 1 << 16;                // elements that stay in the cache in any order
constexpr std::int64_t kRepeated = 1024;                  // elements in rows that are written out several times

// Buffers for the tiles of the blocks that are transposed first.
class Tiles {
 public:
  std::byte* of(std::size_t block) noexcept { return bytes_ + (block - 1) * kBytes; }

 private:
  static constexpr std::size_t kBytes = kTile * 8;
  alignas(64) std::byte bytes_[(Walk::kMost - 1) * kBytes];  // the first block is the output
};

}  // namespace

// Works tile by tile; transposed blocks are copied into order first.
void Walk::run_turned(kernels::Run kernel, std::array<std::byte*, kMost> at, const void* parameter) const {
  const kernels::CopyKernels& copy = *kernels::table().copy;
  const std::size_t down = sizes_.size() - 2, across = sizes_.size() - 1;
  const std::int64_t columns = std::min(kTileColumns, sizes_[across]), rows = kTile / columns;
  std::array<std::int64_t, kMost> row_stride{}, inner{};
  std::array<bool, kMost> turned{};
  bool is_one_run = true;
  for (std::size_t block = 0; block < blocks_; ++block) {
    const auto bytes = static_cast<std::int64_t>(size_of(dtypes_[block]));
    turned[block] = block > 0 && is_turned(block);
    inner[block] = turned[block] ? bytes : strides_[block][across];
    row_stride[block] = turned[block] ? bytes * columns : strides_[block][down];
    is_one_run = is_one_run && row_stride[block] == inner[block] * columns;
  }
  const auto offset = [this, down, across](std::size_t block, std::int64_t row, std::int64_t column) {
    return row * strides_[block][down] + column * strides_[block][across];
  };
  Tiles tiles;
  const auto run_tile = [&](const std::array<std::byte*, kMost>& matrix, std::int64_t row, std::int64_t column) {
    const std::int64_t height = std::min(rows, sizes_[down] - row), width = std::min(columns, sizes_[across] - column);
    const bool goes_down = row + rows < sizes_[down];
    const std::int64_t next_row = goes_down ? row + rows : 0, next_column = goes_down ? column : column + columns;
    const bool has_next = count_ > kInCache && next_column < sizes_[across];
    std::array<std::byte*, kMost> tile{};
    for (std::size_t block = 0; block < blocks_; ++block) {
      tile[block] = matrix[block] + offset(block, row, column);
      if (!turned[block]) continue;
      copy.turn[static_cast<int>(dtypes_[block])](
          {tile[block], height, strides_[block][down], width, strides_[block][across],
           has_next ? matrix[block] + offset(block, next_row, next_column) : nullptr},
          tiles.of(block), row_stride[block]);
      tile[block] = tiles.of(block);
    }
    if (is_one_run) return kernel(tile.data(), {inner.data(), height * width}, {}, parameter);
    kernel(tile.data(), {inner.data(), width}, {row_stride.data(), height}, parameter);
  };
  for_each_outer(down, at, [&](const std::array<std::byte*, kMost>& matrix) {
    for (std::int64_t column = 0; column < sizes_[across]; column += columns) {
      for (std::int64_t row = 0; row < sizes_[down]; row += rows) run_tile(matrix, row, column);
    }
  });
}

// Returns whether the block has the same row for all indices of the dimension before.
bool Walk::is_repeated(std::size_t block) const noexcept {
  const std::size_t down = sizes_.size() - 2, across = sizes_.size() - 1;
  return strides_[block][down] == 0 && strides_[block][across] == static_cast<std::int64_t>(size_of(dtypes_[block]));
}

// Happens when a short bias is added. All other blocks continue from row to row.
bool Walk::has_short_repeated_rows() const noexcept {
  constexpr std::int64_t kShort = 48;
  const std::size_t down = sizes_.size() - 2, across = sizes_.size() - 1;
  if (sizes_[across] > kShort) return false;
  for (std::size_t block = 0; block < blocks_; ++block) {
    const bool goes_on = strides_[block][down] == strides_[block][across] * sizes_[across];
    if (!goes_on && (block == 0 || !is_repeated(block))) return false;
  }
  return true;
}

// Runs several rows at a time; repeated rows are written out that many times.
void Walk::run_repeated(kernels::Run kernel, std::array<std::byte*, kMost> at, const void* parameter) const {
  const std::size_t down = sizes_.size() - 2, across = sizes_.size() - 1;
  const std::int64_t together = std::min(sizes_[down], kRepeated / sizes_[across]);
  std::array<std::int64_t, kMost> inner{};
  for (std::size_t block = 0; block < blocks_; ++block) inner[block] = strides_[block][across];
  Tiles tiles;
  for_each_outer(down, at, [&](std::array<std::byte*, kMost> run) {
    for (std::size_t block = 1; block < blocks_; ++block) {
      if (!is_repeated(block)) continue;
      const auto bytes = static_cast<std::size_t>(sizes_[across] * inner[block]);
      for (std::int64_t row = 0; row < together; ++row) {
        std::memcpy(tiles.of(block) + static_cast<std::size_t>(row) * bytes, run[block], bytes);
      }
      run[block] = tiles.of(block);
    }
    for (std::int64_t row = 0; row < sizes_[down]; row += together) {
      kernel(run.data(), {inner.data(), std::min(together, sizes_[down] - row) * sizes_[across]}, {}, parameter);
      for (std::size_t block = 0; block < blocks_; ++block) run[block] += together * strides_[block][down];
    }
  });
}

}  // namespace distrun::tensor

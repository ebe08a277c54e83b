#include <distrun/runtime/tensor/core/walk.hpp>

#include <algorithm>
#include <cstdlib>

#include <distrun/common/base/check.hpp>

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
    Dims& strides = strides_[block++];
    strides = tensor == nullptr ? Dims(sizes.size(), 0) : expanded_strides(*tensor, sizes);
    const auto bytes = tensor == nullptr ? 0 : static_cast<std::int64_t>(size_of(tensor->dtype));
    for (std::int64_t& stride : strides) stride *= bytes;
  }
  drop_and_order();
  join();
}

// Larger strides come first. Equal ones, as the zeros of what repeats, are told apart by the next block.
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

// How much of the last dimension to go along at a time. If a block has its neighbours in the dimension before, as a
// turned matrix, each element of a long run would be in a cache line of its own, which is gone when its neighbour's
// turn comes; of short runs the lines are still there.
std::int64_t Walk::stretch() const noexcept {
  constexpr std::int64_t kLine = 64, kStretch = 32, kWorthIt = 1 << 15;
  const std::size_t last = sizes_.size() - 1;
  if (sizes_.size() < 2 || count_ < kWorthIt) return sizes_[last];
  for (std::size_t block = 0; block < blocks_; ++block) {
    if (std::abs(strides_[block][last]) >= kLine && std::abs(strides_[block][last - 1]) < kLine) return kStretch;
  }
  return sizes_[last];
}

void Walk::run(kernels::Run kernel, std::byte* const* data, const void* parameter) const {
  if (count_ == 0) return;
  std::array<std::byte*, kMost> at{};
  for (std::size_t block = 0; block < blocks_; ++block) at[block] = data[block];
  if (sizes_.empty()) {
    constexpr std::array<std::int64_t, kMost> kNone{};
    return kernel(at.data(), kNone.data(), 1, parameter);
  }
  const std::int64_t whole = sizes_[sizes_.size() - 1], step = stretch();
  for (std::int64_t first = 0; first < whole; first += step) {
    run_stretch(kernel, at, std::min(step, whole - first), parameter);
    for (std::size_t block = 0; block < blocks_; ++block) at[block] += step * strides_[block][sizes_.size() - 1];
  }
}

// Over all but the last dimension, of which `length` elements are taken.
void Walk::run_stretch(kernels::Run kernel, std::array<std::byte*, kMost> at, std::int64_t length,
                       const void* parameter) const {
  const std::size_t last = sizes_.size() - 1;
  std::array<std::int64_t, kMost> inner{};
  for (std::size_t block = 0; block < blocks_; ++block) inner[block] = strides_[block][last];
  Dims index(last, 0);
  for (;;) {
    kernel(at.data(), inner.data(), length, parameter);
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

}  // namespace distrun::tensor

#pragma once
// For each stream, the count of its work that is known to be done before the clock's owner continues.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace distrun::device::virtual_gpu {

// Streams by number, from 0; unknown streams count 0. A value type.
class VectorClock {
 public:
  std::uint64_t of(std::size_t stream) const noexcept { return stream < counts_.size() ? counts_[stream] : 0; }
  std::size_t size() const noexcept { return counts_.size(); }

  // Counts one more piece of work of that stream; returns its count.
  std::uint64_t tick(std::size_t stream) {
    raise(stream, of(stream) + 1);
    return counts_[stream];
  }
  void raise(std::size_t stream, std::uint64_t count) {
    if (stream >= counts_.size()) counts_.resize(stream + 1);
    counts_[stream] = std::max(counts_[stream], count);
  }
  // Adds all that the other clock includes.
  void join(const VectorClock& other) {
    if (counts_.size() < other.counts_.size()) counts_.resize(other.counts_.size());
    for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] = std::max(counts_[i], other.counts_[i]);
  }

 private:
  std::vector<std::uint64_t> counts_;
};

}  // namespace distrun::device::virtual_gpu

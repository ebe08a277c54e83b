#pragma once
// Random tensors from Philox: the numbers depend only on the generator's seed and on how many it has produced, not on
// device, thread or machine.
#include <cstdint>
#include <mutex>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::core {
class RankState;  // runtime/core/rank_state.hpp
}

namespace distrun::tensor {

// Any thread. Concurrent requests get different numbers, in an unspecified order.
class Generator {
 public:
  // Starts the sequence of that seed.
  explicit Generator(std::uint64_t seed = 0) noexcept : seed_(seed) {}

  std::uint64_t seed() const;         // the last one that was set
  void set_seed(std::uint64_t seed);  // restarts the sequence
  // Blocks of a sequence: `seed` names it, `first` is the number of the first block.
  struct Range {
    // See Range.
    std::uint64_t seed, first;
  };
  // Reserves the next blocks of 4 words for the caller.
  Range take(std::uint64_t blocks);

 private:
  mutable std::mutex mutex_;
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

// Returns the generator of a rank: see default_generator().
Generator& generator_of(core::RankState& rank);
// Returns the generator of the rank that the calling thread works for: the process's, or a separate one where ranks are
// threads. It starts each test with rank.seed(), so that ranks get different numbers and runs are repeatable; outside
// of a test with 0.
Generator& default_generator();
// Restarts the default generator with this seed.
void manual_seed(std::uint64_t seed);

namespace plain {

// Uniform in [0, 1). Floating dtypes only.
Tensor rand(const Dims& sizes, TensorOptions options = {}, Generator& generator = default_generator());
template <OneOption Option>
Tensor rand(const Dims& sizes, Option option) {
  return rand(sizes, options_of(option));
}
// Normal, mean 0, variance 1.
Tensor randn(const Dims& sizes, TensorOptions options = {}, Generator& generator = default_generator());
template <OneOption Option>
Tensor randn(const Dims& sizes, Option option) {
  return randn(sizes, options_of(option));
}

}  // namespace plain
}  // namespace distrun::tensor

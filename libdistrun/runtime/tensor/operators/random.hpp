#pragma once
// Random tensors, by Philox: the numbers depend on the generator's seed and on how many it has given, and on neither
// device, thread nor machine.
#include <cstdint>
#include <mutex>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::core {
class RankState;  // runtime/core/rank_state.hpp
}

namespace distrun::tensor {

// Any thread. Tensors that threads ask for at once get different numbers, in an order that nobody knows.
class Generator {
 public:
  explicit Generator(std::uint64_t seed = 0) noexcept : seed_(seed) {}

  std::uint64_t seed() const;
  void set_seed(std::uint64_t seed);  // from the start
  struct Range {
    std::uint64_t seed, first;
  };
  // The next blocks of 4 words; nobody else gets them.
  Range take(std::uint64_t blocks);

 private:
  mutable std::mutex mutex_;
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

Generator& generator_of(core::RankState& rank);
// That of the rank whose work the calling thread does: the process's, or where ranks are threads its own. It begins
// each test with rank.seed(), so that ranks have numbers of their own and a run can be repeated; with 0 outside of one.
Generator& default_generator();
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

#pragma once
// Checks gradients against central differences in float64: (f(x + h) - f(x - h)) / 2h for every element of every input.
// f is the weighted sum of a function's results, with a separate weight for each element.
#include <functional>

#include <distrun/common/base/rng.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>

namespace distrun::test {

using Function = std::function<TensorList(const TensorList&)>;

// Random float64 tensors; at least 0.2 from zero, where some functions have corners.
class RandomTensors {
 public:
  explicit RandomTensors(std::uint64_t seed) : rng_(seed) {}

  std::int64_t size(std::int64_t least, std::int64_t most);
  Dims sizes(std::size_t rank);  // each 1..4, occasionally 0
  // Returns sizes that broadcast to `sizes`: some are 1, some at the front are left out.
  Dims narrower(const Dims& sizes);
  double number();
  // Returns a contiguous tensor, or a transposed or cut-out view.
  Tensor tensor(const Dims& sizes);
  bool chance(double probability) { return rng_.unit() < probability; }

 private:
  base::Rng rng_;
};

// Returns the first of two GPUs with checked stream order; support/gpus.hpp says which.
Device gpu();
// Returns the findings since the last call.
std::vector<std::string> order_reports();

// The inputs are on the CPU; the function runs on `device`. Checks with Catch.
void check_gradients(const Function& function, const TensorList& inputs, Device device, RandomTensors& random);
// The same for the first gradients: f is then their sum, a function of the inputs and of the results' weights.
void check_second_gradients(const Function& function, const TensorList& inputs, Device device, RandomTensors& random);

}  // namespace distrun::test

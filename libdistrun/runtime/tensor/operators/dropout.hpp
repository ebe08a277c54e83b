#pragma once
// Random masks for dropout.
#include <distrun/runtime/tensor/operators/random.hpp>

namespace distrun::tensor::plain {

// Returns a bool mask; each element is independently true with probability 1 - p, exact to 2^-24. 0 <= p <= 1.
Tensor dropout_mask(const Dims& sizes, double p, Device device, Generator& generator = default_generator());

}  // namespace distrun::tensor::plain

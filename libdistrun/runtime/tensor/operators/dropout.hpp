#pragma once
// Which elements dropout keeps.
#include <distrun/runtime/tensor/operators/random.hpp>

namespace distrun::tensor::plain {

// Bool; each is true with the probability 1 - p, to 2^-24, whatever the others are. 0 <= p <= 1.
Tensor dropout_mask(const Dims& sizes, double p, Device device, Generator& generator = default_generator());

}  // namespace distrun::tensor::plain

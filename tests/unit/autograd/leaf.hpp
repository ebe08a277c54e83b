#pragma once
// The leaf that most graphs of these tests begin with.
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

namespace distrun::testing {

inline Tensor leaf(const Dims& sizes = {3, 3}) { return set_requires_grad(ones(sizes)); }

}  // namespace distrun::testing

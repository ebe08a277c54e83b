#pragma once
// The leaf at the start of most graphs in these tests.
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

namespace distrun::testing {

inline Tensor leaf(const Dims& sizes = {3, 3}) { return set_requires_grad(ones(sizes)); }

}  // namespace distrun::testing

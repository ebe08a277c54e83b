#pragma once
// Functions that tests of a pass's roots call remotely: sums of references, and invalid roots.
#include <vector>

#include <distrun/runtime/dist_autograd/context.hpp>

namespace distrun::suites {

Tensor sum_of(Tensor x);
// Runs a pass on the called worker, with the arguments of a caller that knows no C++ types.
void dist_autograd_backward(dist_autograd::ContextId context_id, std::vector<Tensor> roots);

}  // namespace distrun::suites

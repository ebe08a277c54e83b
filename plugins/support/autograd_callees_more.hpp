#pragma once
// Functions that others call in tests of roots of a pass: of references to them, and of what is no root.
#include <vector>

#include <distrun/runtime/dist_autograd/context.hpp>

namespace distrun::suites {

Tensor sum_of(Tensor x);
// A pass where it is called, with what a caller has who knows no types.
void dist_autograd_backward(dist_autograd::ContextId context_id, std::vector<Tensor> roots);

}  // namespace distrun::suites

#include "autograd_callees_more.hpp"

#include <distrun/dist_autograd.hpp>

namespace distrun::suites {

Tensor sum_of(Tensor x) { return sum(x); }
DISTRUN_RPC(sum_of, "x")

void dist_autograd_backward(dist_autograd::ContextId context_id, std::vector<Tensor> roots) {
  dist_autograd::backward(context_id, roots);
}
DISTRUN_RPC(dist_autograd_backward, "context_id", "roots")

}  // namespace distrun::suites

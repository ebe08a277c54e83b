#pragma once
// Decides which gradients may pass through their graph on the thread that read them from a message. Handing them to
// another thread costs more than a small graph.
#include <vector>

#include <distrun/runtime/autograd/node.hpp>

namespace distrun::dist_autograd {

// Returns whether all reachable nodes are quick, on the CPU, without hooks, and small: estimated from the number of
// nodes and of their gradients' elements, they take some hundred microseconds at most. The check takes a tenth of that.
bool is_quick_graph(const std::vector<autograd::Ref<autograd::Node>>& starts);

}  // namespace distrun::dist_autograd

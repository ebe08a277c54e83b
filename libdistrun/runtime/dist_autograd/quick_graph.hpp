#pragma once
// Which gradients may go through their graph on the thread that has read them from a message. To hand them to another
// costs more than a small graph does.
#include <vector>

#include <distrun/runtime/autograd/node.hpp>

namespace distrun::dist_autograd {

// Whether all that can be reached from these is quick, without hooks, of the CPU, and little: what it takes is some
// hundred microseconds at most, by the number of its nodes and of the elements of their gradients. To look takes a
// tenth of that.
bool is_quick_graph(const std::vector<autograd::Ref<autograd::Node>>& starts);

}  // namespace distrun::dist_autograd

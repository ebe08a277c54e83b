#pragma once
// Runs graph functions, and operators by name, on values of calls.
//
// A function may not run forever or fill the memory with lists: every node that is executed is a step, a list that is
// made or copied one for each of its items, and steps are bounded. What operators need themselves is not looked at.
#include <functional>
#include <span>
#include <string_view>

#include <distrun/runtime/rpc/functions/graph.hpp>

namespace distrun::rpc {

struct GraphRunLimits {
  std::uint64_t steps = 100'000'000;
  // Called now and then, every 1024 steps; throws to end the function: whoever called it does not wait any more.
  std::function<void()> poll;
};

// With a value for each parameter, in their order (bind_arguments()). Tensors are handles: what the function changes in
// place is changed for the caller on this rank. Constants are the function's own in each run.
//
// Throws what operators throw, with "in graph function f, node 7 (mul_)" in the context; Error{Failed} for what the
// function raises; Error{InvalidArgument}, with the types of the field, for what can't be calculated; Error{Overloaded}
// beyond the limits.
Value run_graph(const GraphFunction& function, ValueList arguments, const GraphRunLimits& limits = {});

}  // namespace distrun::rpc

#pragma once
// Runs graph functions on the values of calls.
//
// The number of steps is bounded, so that a function cannot run forever or fill the memory with lists: each executed
// node is a step, and each item of a list that is built or copied costs steps. The operators' own cost is not counted.
#include <functional>
#include <span>
#include <string_view>

#include <distrun/runtime/rpc/graph/graph.hpp>

namespace distrun::rpc {

struct GraphRunLimits {
  std::uint64_t steps = 100'000'000;
  // Called every 1024 steps; throws to end the function when its caller no longer waits.
  std::function<void()> poll;
};

// Takes a value for each parameter, in order (bind_arguments()). Tensors are handles: the function's in-place changes
// are visible to a caller on this rank. Constants are copied for each run.
//
// Throws what operators throw, with "in graph function f, node 7 (mul_)" in the context; Error{Failed} for the
// function's Raise nodes; Error{InvalidArgument}, with the usual types ("TypeError", "KeyError"), for operands that do
// not fit; Error{Overloaded} beyond the limits.
Value run_graph(const GraphFunction& function, ValueList arguments, const GraphRunLimits& limits = {});

}  // namespace distrun::rpc

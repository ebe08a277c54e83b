#pragma once
// Reduces a wait-for graph. All functions are linear in the size of the graph and do not recurse.
#include <vector>

#include <distrun/runner/record/doctor/graph.hpp>

namespace distrun::runner::doctor {

// Returns for each thread whether it is stuck: removes every thread that can continue, then those that a removed thread
// can wake, until nothing changes. All parties of an And-wait, or one of an Or-wait, must have a thread that continues.
std::vector<bool> stuck_threads(const Graph& graph);

// Threads that block each other, directly or not, and that wait for no other thread: a cycle, or a single thread at the
// end of a chain. Ascending.
using End = Indices;

// Returns where the expected waits (Wait::next) of these threads end, in the order in which they are reached.
std::vector<End> ends_from(const Graph& graph, const Indices& roots);

// Returns the threads that wait for one of `targets`, directly or not, without the targets; nearest first. The second
// of each pair is the index of the thread that it waits for, on a shortest way. Leaves out threads of distrun that no
// other thread waits for.
struct Waiter {
  std::size_t thread = 0;
  std::size_t next = 0;
};
std::vector<Waiter> waiters_of(const Graph& graph, const Indices& targets);

}  // namespace distrun::runner::doctor

#pragma once
// Chooses the kind of a cause: from what the threads at the end of a chain do, and from what others wait for there.
#include <distrun/runner/record/doctor/stuck.hpp>

namespace distrun::runner::doctor {

// Returns whether the end is a cycle, not a single thread that waits for no other.
bool is_cycle(const Graph& graph, const End& end);
// Returns the thread to look at first: in a cycle of barriers or collectives the odd one, else the first one.
std::size_t focus_of(const Graph& graph, const End& end);
// `waiters` are all that wait for the end, nearest first.
HangKind kind_of(const Graph& graph, const End& end, const std::vector<Waiter>& waiters);

}  // namespace distrun::runner::doctor

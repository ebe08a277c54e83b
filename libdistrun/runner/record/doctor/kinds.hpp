#pragma once
// Chooses the kind of a cause: from what the threads at the end of a chain do, and from what others wait for there.
#include <distrun/runner/record/doctor/stuck.hpp>

namespace distrun::runner::doctor {

// Returns whether the end is a cycle, not a single thread that waits for no other.
bool is_cycle(const Graph& graph, const End& end);
// Returns the members of a cycle of barriers or collectives that fewest others have joined; all if each is in as many,
// or if it is another end.
Indices odd_ones(const Graph& graph, const End& end);
// Returns the thread to look at first: the first of the odd ones.
std::size_t focus_of(const Graph& graph, const End& end);
// Returns the threads to blame. Where ranks do not call the same, these are the few rather than the many; in a wrong
// order, all; in a livelock, also those of `waiters` that go on.
Indices culprits_in(const Graph& graph, const End& end, const std::vector<Waiter>& waiters, HangKind kind);
// `waiters` are all that wait for the end, nearest first.
HangKind kind_of(const Graph& graph, const End& end, const std::vector<Waiter>& waiters);

}  // namespace distrun::runner::doctor

#pragma once
// Builds the chain of a cause step by step: a thread, the thing that it waits for, the thread that holds it. Ranks that
// wait alike share a step.
#include <distrun/runner/record/doctor/stuck.hpp>

namespace distrun::runner::doctor {

inline constexpr std::size_t kLinksMax = 8;

// Returns the chain from the waiter that is farthest from the end to the end. For a cycle, goes round it from `focus`
// and names the first step again, without what it does, as the last.
std::vector<ChainLink> chain_of(const Graph& graph, const End& end, std::size_t focus,
                                const std::vector<Waiter>& waiters);

// Returns what the thread does, in the singular: "waits in fcntl(F_SETLKW) for lock of /tmp/x", "is stopped (SIGSTOP)".
std::string does(const Graph& graph, const Thread& thread);

}  // namespace distrun::runner::doctor

#pragma once
// Draws the conclusion from a wait-for graph: why the ranks make no progress. A pure function.
//
// Ranking, the first cause told first: proven deadlocks; then the ends of the chains of waits that begin at the roots,
// those that most ranks wait for first; then threads that no rank waits for; among equals the lowest rank. A cause is
// proven only if its threads are stuck by the reduction of stuck.hpp and unchanged since the earlier snapshot.
#include <vector>

#include <distrun/runner/record/doctor/graph.hpp>

namespace distrun::runner::doctor {

struct Diagnosis {
  std::vector<HangCause> causes;  // the first one is the headline; at most kCausesMax
  std::vector<HangCause> notes;   // proven deadlocks of threads that no rank waits for
};

inline constexpr std::size_t kCausesMax = 16;

// `late`: the ranks to explain; empty: all ranks or, without ranks, all processes.
Diagnosis diagnose(const Graph& graph, const std::vector<int>& late = {});
// Returns only the causes.
std::vector<HangCause> causes_of(const Graph& graph, const std::vector<int>& late = {});

}  // namespace distrun::runner::doctor

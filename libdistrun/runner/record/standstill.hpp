#pragma once
// Explains why ranks made no progress when some timed out: finds the ranks where all waits end, by the wait-for graph
// (doctor/graph.hpp).
#include <string>
#include <vector>

#include <distrun/runner/record/doctor/hang_cause.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// Ranks that do the same, or wait alike for the same ranks.
struct Standing {
  std::vector<int> ranks;    // ascending
  std::string what;          // "barrier \"meet\""; for a cause: "waiting in store get \"key\"", "spinning"
  std::vector<int> awaited;  // according to the board; empty: not known
};

// A deadlock: two or more ranks that wait for each other in a cycle.
struct Circle {
  std::vector<int> ranks;  // ascending
  std::vector<Standing> waits;
};

struct Standstill {
  std::vector<int> causes;        // ranks that block the others and wait for none but each other; ascending
  std::vector<Circle> circles;    // cycles that contain all causes; else empty
  std::vector<Standing> doing;    // activities of causes that are in no cycle, where known
  std::vector<Standing> waiting;  // the other ranks that wait
  base::RankHosts hosts{};        // of all ranks
};

// Explains an attempt in which ranks timed out. Uses the snapshot of that moment: what threads wait in, of any kind,
// and what they run for other ranks. Without one, uses what ranks have reported to the coordinator.
Standstill standstill_of(const AttemptRecord& attempt);

// Returns why the ranks that timed out made no progress, the headline first; empty if none timed out, or no snapshot
// was taken then. An earlier snapshot of the attempt can prove a deadlock.
std::vector<HangCause> hang_causes_of(const AttemptRecord& attempt);

}  // namespace distrun::runner

#pragma once
// Puts the cause of a hang into words: the first three lines of a report.
#include <array>
#include <string>

#include <distrun/runner/record/doctor/hang_cause.hpp>

namespace distrun::runner {

// Returns "missing rank (likely): rank 1 sleeps in clock_nanosleep (train.cpp:88); ranks 0, 2-3 wait for it in barrier
// \"meet\"".
std::string verdict_text(const HangCause& cause);
// Returns the same without kind and certainty: "rank 1 sleeps in ...".
std::string sentence_text(const HangCause& cause);
// Returns "ranks 0, 2-3 wait in barrier \"meet\" (train.cpp:90) for rank 1, which sleeps in clock_nanosleep
// (train.cpp:88)". Empty if the chain has a single step.
std::string chain_text(const HangCause& cause);
// Returns "look at train.cpp:88 (step), thread 4711 of rank 1; the wait has lasted 1.9 s".
std::string look_text(const HangCause& cause);

// All of the above; printable lines.
// Says what was seen, without a judgement: what the ranks do may be right, and end well.
std::string observation_text(const HangCause& cause);
std::array<std::string, 3> cause_text(const HangCause& cause);

}  // namespace distrun::runner

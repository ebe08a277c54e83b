#pragma once
// Why ranks did not get on when the time of some ran out: at which ranks all their waits end.
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// Ranks that do the same, or wait alike for the same others.
struct Standing {
  std::vector<int> ranks;    // ascending
  std::string what;          // "barrier \"meet\""; of a cause: "waiting in store get \"key\"", "spinning"
  std::vector<int> awaited;  // by what is shown; empty: not known
};

// Ranks that wait for each other, so that none of them can go on; two at least.
struct Circle {
  std::vector<int> ranks;  // ascending
  std::vector<Standing> waits;
};

struct Standstill {
  std::vector<int> causes;        // ranks that hold up the others, and wait for none but each other; ascending
  std::vector<Circle> circles;    // all causes are in these, or there is none
  std::vector<Standing> doing;    // of causes that are in no circle, where there is something to say
  std::vector<Standing> waiting;  // the others that wait
};

// Of an attempt in which ranks ran out of time. From the look at that moment: what threads wait in, of whatever kind,
// and what they run for other ranks. Without one from what ranks have told the coordinator.
Standstill standstill_of(const AttemptRecord& attempt);

}  // namespace distrun::runner

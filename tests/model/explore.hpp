#pragma once
// Explores a world: every order of events (breadth first, so that a violation is found by the fewest steps), or one at
// random.
#include <string>

#include <distrun/common/base/rng.hpp>

#include "model/world.hpp"

namespace distrun::rref::model {

struct Explored {
  std::size_t states = 0;
  std::size_t transitions = 0;
  std::size_t ends = 0;   // final states
  std::size_t nodes = 0;  // states of one worker
  std::size_t depth = 0;
  bool is_complete = true;
  std::string violation;  // the violation, and the steps that lead to it; empty: none
};

// Visits every state, up to `most`.
Explored explore(const Bounds& bounds, std::size_t most);
// Returns "explored N states, M transitions, depth D, in T s: 3 workers, 2 references, ..."
std::string text(const Explored& explored, const Bounds& bounds, double seconds);

// Runs one random order of events to its end.
Explored walk(const Bounds& bounds, base::Rng& rng);

}  // namespace distrun::rref::model

#pragma once
// Whether this process may open what the ranks of an attempt take: asked before any of them is made, so that too low a
// limit is one sentence with the number that would do, and no half-made world.

namespace distrun::launch {

// Throws Error{Overloaded} if the limit of open files leaves no room for so many more processes with a control line,
// two pipes and a pidfd each. Takes a microsecond.
void require_descriptors(int processes);

}  // namespace distrun::launch

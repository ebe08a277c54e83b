#pragma once
// Checks whether this process may open the descriptors for the ranks of an attempt. Checked before any rank is created:
// if the limit is too low, the error names the sufficient number, and no half-created world is left.

namespace distrun::launch {

// Throws Error{Overloaded} if the limit of open files does not allow `processes` more processes with a control line,
// two pipes and a pidfd each. Takes a microsecond.
void require_descriptors(int processes);

}  // namespace distrun::launch

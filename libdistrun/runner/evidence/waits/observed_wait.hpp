#pragma once
// Converts what /proc shows of a thread's wait into the form that the probe sends. A pure function of the snapshot.
#include <distrun/common/wire/stacks.hpp>
#include <distrun/runner/evidence/waits/blocked_on.hpp>
#include <distrun/runner/evidence/waits/connections.hpp>
#include <distrun/runner/evidence/waits/wait_text.hpp>

namespace distrun::evidence {

// A futex of one process is Unknown here: only the thread's functions say what it is. Any thread of the process may
// wake it.
wire::ObservedWait observed_wait(const Connections& all, const Names& names, const Blocked& blocked);

}  // namespace distrun::evidence

#pragma once
// A process by descriptor: it cannot be confused with a later one of the same pid.
#include <sys/types.h>

#include <optional>

#include <distrun/common/base/fd.hpp>
#include <distrun/runner/proc/exit_status.hpp>

namespace distrun::proc {

// Readable once the process has ended. Throws Error{Failed} if there is no such process.
base::Fd open_pidfd(pid_t pid);

// Reaps a child that has ended; empty while it runs. A child that somebody else has reaped counts as
// ended, with an unknown status: killed by signal 0 is never reported, code -1 is.
std::optional<ExitStatus> try_reap(pid_t pid);

}  // namespace distrun::proc

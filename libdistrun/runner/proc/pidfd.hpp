#pragma once
// Refers to a process by descriptor, which cannot be confused with a later process of the same pid.
#include <sys/types.h>

#include <optional>

#include <distrun/common/base/fd.hpp>
#include <distrun/runner/proc/exit_status.hpp>

namespace distrun::proc {

// The descriptor is readable once the process has ended. Throws Error{Failed} if there is no such process.
base::Fd open_pidfd(pid_t pid);

// Reaps a child that has ended; empty while it runs. If it was reaped elsewhere, the status is code -1.
std::optional<ExitStatus> try_reap(pid_t pid);

}  // namespace distrun::proc

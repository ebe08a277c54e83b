#pragma once
// Describes the process limit (getrlimit(2), `ulimit`) that made a call fail: its name, its value, and how to raise it.
// base::errno_text() adds it for every errno that a limit can cause (error.hpp).
#include <string>

namespace distrun::base {

// Returns "the limit of open files is 64 (RLIMIT_NOFILE): raise it, as with ulimit -n"; empty if the errno has no such
// limit, or none is set. Also empty for EAGAIN, which has many causes: see fork_errno_text().
std::string limit_behind(int number);
// Returns the limits that can make the creation of a process or thread fail with EAGAIN: of processes, and of the
// address space, which a thread's stack needs. Never empty.
std::string limits_behind_fork();

}  // namespace distrun::base

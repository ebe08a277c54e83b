#pragma once
// The limits of a process (getrlimit(2), `ulimit`), told where one of them is what denied something: which one, its
// value, and the way out. base::errno_text() has them for every errno behind which a limit stands (error.hpp).
#include <string>

namespace distrun::base {

// "the limit of open files is 64 (RLIMIT_NOFILE): raise it, as with ulimit -n"; empty if no limit is behind the errno,
// or none is set. EAGAIN may mean many things and has none: fork_errno_text() knows one.
std::string limit_behind(int number);
// The same for an EAGAIN of a call that makes a process or a thread: limits of processes, and of the address space that
// a thread's stack takes. Never empty.
std::string limits_behind_fork();

}  // namespace distrun::base

#pragma once
// Finds out why the kernel does not permit tracing a process.
#include <sys/types.h>

#include <string>

namespace distrun::probe {

// Returns "ptrace is not permitted: Operation not permitted; process 4711 (gdb) traces it already".
std::string describe_refusal(pid_t tid, int error);

}  // namespace distrun::probe

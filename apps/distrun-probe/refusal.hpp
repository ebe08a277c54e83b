#pragma once
// Why the kernel does not let us trace a process, as far as it can be found out.
#include <sys/types.h>

#include <string>

namespace distrun::probe {

// "ptrace is not permitted: Operation not permitted; process 4711 (gdb) traces it already".
std::string describe_refusal(pid_t pid, int error);

}  // namespace distrun::probe

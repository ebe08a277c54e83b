#pragma once
// A rank that is started under a command like strace: which process is the rank's. Some commands become the program
// (valgrind), others start it as a child (strace, perf) and stay.
#include <sys/types.h>

#include <string>
#include <vector>

namespace distrun::launch {

// Returns the process of the program that was started as `pid` under a command. `ending` are the last words of that
// process's command line: the last word of the command, then the program with its arguments. Returns `pid` if the
// command has become the program or has not started it yet, and if `ending` is empty.
pid_t process_under(pid_t pid, const std::vector<std::string>& ending);

}  // namespace distrun::launch

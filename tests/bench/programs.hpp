#pragma once
// Whole programs, for benchmarks that time them as a user would.
#include <sys/types.h>

#include <string>
#include <vector>

namespace distrun::bench {

// Starts a program with standard output and error at /dev/null. Returns 0 if it cannot be started.
pid_t start_program(std::vector<std::string> arguments);
// Returns the exit code; -1 if the program did not exit.
int wait_for_program(pid_t pid);
int run_program(std::vector<std::string> arguments);

}  // namespace distrun::bench

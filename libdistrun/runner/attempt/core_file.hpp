#pragma once
// Where the kernel puts the core file of a rank that crashed: /proc/sys/kernel/core_pattern.
#include <string>

#include <distrun/common/base/clock.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

struct CorePattern {
  std::string text;       // "core", "/var/crash/%e.%p", "|/lib/systemd/systemd-coredump %P ..."
  bool adds_pid = false;  // the kernel appends ".PID" if the pattern has none
};
CorePattern core_pattern_of_machine();

// Returns whether the rank was ended by a signal for which the kernel writes a core file.
bool may_have_core(const RankRecord& rank);

// Returns the path of the core file of `pid`, the command that shows it, or why there is none. `directory` is that of
// the process; `age` is the age of the oldest file that may be meant.
std::string describe_core(const CorePattern& pattern, const std::string& directory, int pid, Nanoseconds age);

}  // namespace distrun::runner

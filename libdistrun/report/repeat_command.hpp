#pragma once
#include <string>

#include <distrun/runner/record.hpp>

namespace distrun::report {

// The command line that runs just this test again, with everything that may have mattered: ready
// to be pasted into a POSIX shell.
std::string repeat_command(const runner::Settings& settings, const runner::TestRecord& test);

}  // namespace distrun::report

#pragma once
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

// An id is no pattern: what a filter would read as one is escaped, and what must not stand there becomes a `?`, which
// matches it too.
std::string filter_for(const std::string& id);

// What of the settings may matter to how a test comes out, but for the seed: "--world-size", "2". The world size
// always, the others where they are not as by default. A flag has the value "true".
std::vector<wire::KeyValue> setting_options(const runner::Settings& settings);

// The command line that runs just this test again, with everything that may have mattered: ready
// to be pasted into a POSIX shell.
std::string repeat_command(const runner::Settings& settings, const runner::TestRecord& test);

}  // namespace distrun::report

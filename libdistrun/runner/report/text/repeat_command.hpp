#pragma once
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

// Turns an id into a filter pattern: escapes characters with a meaning in filters, and replaces those that must not
// appear by `?`, which matches them.
std::string filter_for(const std::string& id);

// Returns the settings that may affect a test's result, except the seed: "--world-size", "2". The world size is always
// included, other settings only if they differ from the default. A flag has the value "true".
std::vector<wire::KeyValue> setting_options(const runner::Settings& settings);

// Returns the command line that repeats only this test, with all relevant settings, ready to be pasted into a POSIX
// shell.
std::string repeat_command(const runner::Settings& settings, const runner::TestRecord& test);

}  // namespace distrun::report

#pragma once
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

// Turns an id into a filter pattern: escapes special characters and replaces forbidden ones by `?`, which matches.
std::string filter_for(const std::string& id);

// Returns the value of --world-size: "4", or "1,2,4".
std::string world_sizes_text(const runner::Settings& settings);

// Returns the value of --stress-load: "cpu,pause", or "none".
std::string stress_load_text(const runner::Settings& settings);

// Returns the settings that may affect a test's result, except the seed: "--world-size", "2". The world size is always
// included, other settings only if they differ from the default. A flag has the value "true".
std::vector<wire::KeyValue> setting_options(const runner::Settings& settings);

// Returns the command line that repeats only this test, with all relevant settings, for a POSIX shell.
std::string repeat_command(const runner::Settings& settings, const runner::TestRecord& test);

}  // namespace distrun::report

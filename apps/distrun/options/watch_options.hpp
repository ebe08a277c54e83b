#pragma once
// --deadlock and --suspect-after: what is done about ranks that stand still, before the timeout.
#include <distrun/runner/record/record.hpp>

#include "raw_options.hpp"

namespace distrun::cli {

void add_watch_options(CLI::App& app, Raw& raw);
// Throws Error{InvalidArgument} for an unknown policy or time.
void add_watch_settings(const Raw& raw, runner::Settings& settings);

}  // namespace distrun::cli

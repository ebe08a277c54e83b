#pragma once
// The order of tests, and how often each runs: --order, --shuffle, --seed, --repeat, --until-fail, --retries, ...
#include "options.hpp"
#include "raw_options.hpp"

namespace distrun::cli {

inline constexpr int kRetriesMax = 1000;

void add_repetition_options(CLI::App& app, Raw& raw);
// Both throw Error{InvalidArgument} that names the option. Call the first after the settings of --debug are set.
void add_repetition_settings(const Raw& raw, runner::Settings& settings);
TestOrder order_of(const Raw& raw);

}  // namespace distrun::cli

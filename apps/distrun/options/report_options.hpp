#pragma once
// The options for the output of a run: on the terminal, in files, to GitHub, in the history.
#include <cstddef>

#include "options.hpp"
#include "raw_options.hpp"

namespace distrun::cli {

inline constexpr std::size_t kSlowMax = 100'000;

// Adds reports that can be written at any time; shared by `run` and `show`.
void add_later_reports(CLI::App& app, Raw& raw);
// Adds all reports of a run.
void add_reports(CLI::App& app, Raw& raw);
void add_verbose(CLI::App& app, bool& verbose);
// Adds those of `distrun exec`, which leaves standard output to the programs.
void add_program_reports(CLI::App& app, Raw& raw);

// Creates the directories of --output and --trace. All throw Error{InvalidArgument} for invalid values.
ReportPaths report_paths_of(const Raw& raw);
void add_trace_settings(const Raw& raw, runner::Settings& settings);
// Sets what is shown on the terminal. `run.settings` are complete.
void set_console(const Raw& raw, RunOptions& run);
GithubOptions github_options_of(const Raw& raw, const ReportPaths& reports);

}  // namespace distrun::cli

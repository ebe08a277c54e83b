#pragma once
// The options that say what is told of a run, and where: on the terminal, in files, to GitHub, in the history.
#include <cstddef>

#include "options.hpp"
#include "raw_options.hpp"

namespace distrun::cli {

inline constexpr std::size_t kSlowMax = 100'000;

// Reports that can be made of a run at any time; `run` and `show` share them.
void add_later_reports(CLI::App& app, Raw& raw);
// All of a run's.
void add_reports(CLI::App& app, Raw& raw);
void add_verbose(CLI::App& app, bool& verbose);
// Of `distrun exec`, whose standard output is the programs'.
void add_program_reports(CLI::App& app, Raw& raw);

// Makes the directories of --output and --trace. They throw Error{InvalidArgument} for what cannot be.
ReportPaths report_paths_of(const Raw& raw);
void add_trace_settings(const Raw& raw, runner::Settings& settings);
GithubOptions github_options_of(const Raw& raw, const ReportPaths& reports);

}  // namespace distrun::cli

#pragma once
// The subcommands. Each returns an exit code (exit_codes.hpp) and throws Error on failure.
#include <optional>

#include <distrun/runner/daemon/own_run.hpp>

#include "options/options.hpp"

namespace distrun::cli {

// `own`: data from the daemon, if it has started this process.
int run(const RunOptions& options, std::optional<daemon::OwnRun> own);
int exec(RunOptions options);
int list(const ListOptions& options);
int show(const ShowOptions& options);
int ps(const PsOptions& options);
int stacks(const StacksOptions& options);
int doctor(const DoctorOptions& options);
int attach(const AttachOptions& options);
int cancel(const CancelOptions& options);
// Executes the run in the daemon, with this process as its front end: same output, same exit code.
int submit(const std::vector<std::string>& command_line);
int history(const HistoryOptions& options);
int node(const NodeOptions& options);
int completion(const CompletionOptions& options);
int complete(const CompleteOptions& options);
int man();

}  // namespace distrun::cli

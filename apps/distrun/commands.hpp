#pragma once
// The subcommands. Each returns an exit code (exit_codes.hpp) and throws Error for what it cannot do.
#include "options.hpp"

namespace distrun::cli {

int run(const RunOptions& options);
int exec(RunOptions options);
int list(const ListOptions& options);
int show(const ShowOptions& options);
int ps(const PsOptions& options);
int stacks(const StacksOptions& options);
int attach(const AttachOptions& options);

}  // namespace distrun::cli

#pragma once
// --hosts, --launcher and --per-host: ranks on other hosts. In an allocation of Slurm with several nodes, these are the
// hosts unless others are named.
#include <distrun/runner/nodes/allocation.hpp>

#include "options.hpp"
#include "raw_options.hpp"

namespace distrun::cli {

void add_host_options(CLI::App& app, Raw& raw);

// Returns no hosts if ranks are to run on this machine. `is_typed`: --hosts stands on the command line; otherwise an
// allocation of several nodes wins. Throws Error{InvalidArgument} for options that make no sense.
HostsOptions hosts_of(const Raw& raw, bool is_typed, const nodes::Variables& variables = nodes::variable_of_process);

// Adapts settings to several hosts, and refuses worlds that do not fit on them. `has_backend`: the user has chosen one.
void adapt_to_hosts(const Raw& raw, RunOptions& run, bool has_backend);

}  // namespace distrun::cli

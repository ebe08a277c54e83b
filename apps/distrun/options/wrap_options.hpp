#pragma once
// --wrap, --wrap-rank and --core, of `run` and `exec`: commands that ranks are started under, and their core files.
#include "options.hpp"
#include "raw_options.hpp"

namespace CLI {
class App;
}

namespace distrun::cli {

void add_wrap_options(CLI::App& app, Raw& raw);

// Adds the commands to the settings. Ranks under them are programs of their own, so the isolation becomes exec, and
// timeouts are longer unless --timeout-scale is given. Throws Error{InvalidArgument} for what cannot be combined.
void add_wrap_settings(const Raw& raw, RunOptions& run);

}  // namespace distrun::cli

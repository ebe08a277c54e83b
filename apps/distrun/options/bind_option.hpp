#pragma once
// --bind, of `run` and `exec`.
#include <distrun/runner/record/record.hpp>

#include "raw_options.hpp"

namespace CLI {
class App;
}

namespace distrun::cli {

void add_bind_option(CLI::App& app, Raw& raw);
runner::Bind bind_of(const Raw& raw);

}  // namespace distrun::cli

#pragma once
#include <string>

#include "option_layers.hpp"

namespace distrun::cli {

// Returns the settings of a parsed app as an equivalent settings file, with the origin of each value. `config` is the
// file that was read, or empty.
std::string config_text(const CLI::App& app, const Origins& origins, const std::string& config);

}  // namespace distrun::cli

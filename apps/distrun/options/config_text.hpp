#pragma once
#include <string>

#include "option_layers.hpp"

namespace distrun::cli {

// Every setting of a parsed app as a file of settings that says the same, each with where its value comes from.
// `config` is the file that was read, or empty.
std::string config_text(const CLI::App& app, const Origins& origins, const std::string& config);

}  // namespace distrun::cli

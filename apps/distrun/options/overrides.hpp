#pragma once
// --overrides: settings of some tests, as an inline table of TOML: {filter = "tag:slow", timeout = "5m", retries = 2}.
// In the settings file they are tables [[overrides]].
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::cli {

// Throws Error{InvalidArgument} that names --overrides: for a text that is no table, an unknown key, a value of another
// type or out of range, a table without a filter or without anything else.
runner::Override parse_override(const std::string& text);

// Returns the keys of such a table.
std::vector<std::string> override_keys();

}  // namespace distrun::cli

#pragma once
// The settings file .distrun.toml: a key is the long name of an option of `distrun run`, its value that option's value.
// The file is searched from the start directory upwards to the repository's root (with .git) or the home directory.
// Outside of both only the start directory counts, so that other users cannot set options by a file in /tmp.
#include <optional>
#include <string>
#include <string_view>

#include "help/command_info.hpp"
#include "option_layers.hpp"

namespace distrun::cli {

inline constexpr char kConfigName[] = ".distrun.toml";

// Returns nullopt if there is none. `start` is absolute; `home` may be empty.
std::optional<std::string> find_config(const std::string& start, const std::string& home);

// Returns the file's text. Throws Error{InvalidArgument} with the path if it is unreadable, not a regular file, or too
// big.
std::string read_config(const std::string& path);

// Parses the text; "path:line" becomes the origin of each value. FILE and DIR are relative to the file. Throws
// Error{InvalidArgument} that begins with "path:line" for invalid TOML, for a key that is not an option of `run` or not
// allowed in a file, and for a value of the wrong type.
Layer config_layer(const std::string& path, std::string_view text, const CommandInfo& run);

// Returns whether a file may set the option: options for a single run are not allowed.
bool may_stand_in_config(const OptionInfo& option);

// Returns the layer of the file that `wanted` (the value of --config) names: a path, "none", or empty for the file that
// is found. Sets `path` to that file, or to an empty text.
Layer wanted_config(const std::string& wanted, const CommandInfo& run, std::string& path);

}  // namespace distrun::cli

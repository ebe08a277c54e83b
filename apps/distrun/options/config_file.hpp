#pragma once
// A file of settings, .distrun.toml: a key is the long name of an option of `distrun run`, its value what the option
// would be given. The file is looked for from the start directory upwards, as far as the repository's root (where .git
// is) or the home directory; outside of both only the start directory counts, since whoever may write to /tmp must not
// decide what others run there.
#include <optional>
#include <string>
#include <string_view>

#include "help/command_info.hpp"
#include "option_layers.hpp"

namespace distrun::cli {

inline constexpr char kConfigName[] = ".distrun.toml";

// Nothing if there is none. `start` is absolute; `home` may be empty.
std::optional<std::string> find_config(const std::string& start, const std::string& home);

// The file's text. Throws Error{InvalidArgument} that names a file which cannot be read, is none, or is too big.
std::string read_config(const std::string& path);

// What the text says, with "path:line" as the origin of each value. FILE and DIR are relative to the file. Throws
// Error{InvalidArgument} that begins with "path:line" for what is no TOML, a key that is no option of `run` or not one
// for a file, and a value of another kind than the option's.
Layer config_layer(const std::string& path, std::string_view text, const CommandInfo& run);

// Whether a file may have the option: those that are about one run alone have no place in it.
bool may_stand_in_config(const OptionInfo& option);

// The layer of the file that `wanted` (the value of --config) means: a path, "none", or empty for the one that is
// found; `path` becomes that of the file, or empty.
Layer wanted_config(const std::string& wanted, const CommandInfo& run, std::string& path);

}  // namespace distrun::cli

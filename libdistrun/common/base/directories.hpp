#pragma once
// Directories that distrun keeps for a user.
#include <filesystem>
#include <string>

namespace distrun::base {

// Creates a directory and those above it that are missing, for this user only (mode 0700, as the XDG specification
// asks). Throws Error{Failed} "cannot create the directory PATH: why".
void make_directories(const std::filesystem::path& directory);

// Returns a base directory of the XDG specification: the value of the variable, such as XDG_STATE_HOME, else
// $HOME/`below_home`. Relative paths are ignored, as it requires. Returns an empty text if there is neither.
std::string user_directory(const char* variable, const char* below_home);

}  // namespace distrun::base

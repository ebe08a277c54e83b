#pragma once
// Directories that distrun keeps for a user.
#include <filesystem>

namespace distrun::base {

// Creates a directory and those above it that are missing, for this user only (mode 0700, as the XDG specification
// asks). Throws Error{Failed} "cannot create the directory PATH: why".
void make_directories(const std::filesystem::path& directory);

}  // namespace distrun::base

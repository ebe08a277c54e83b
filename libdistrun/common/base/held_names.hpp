#pragma once
// Finds the names in given directories that a process uses: open or mapped files, its working directory, and sockets
// that it has bound. This tells which process a name belongs to. Reading /proc costs the process milliseconds when it
// exits, so ask only with a reason.
#include <cstdint>
#include <string>
#include <vector>

namespace distrun::base {

// An entry of one of the directories. A file in a subdirectory counts as that subdirectory.
struct HeldName {
  std::string path;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const HeldName&, const HeldName&) = default;
};

inline constexpr std::size_t kHeldNamesMax = 1000;

// `process` is "self" or a pid. Returns each name once, if it still exists. Skips what cannot be read.
std::vector<HeldName> held_names(const std::string& process, const std::vector<std::string>& directories);

}  // namespace distrun::base

#pragma once
// Which of the names in some directories a process has to do with: what is open or mapped in it, where it works, and
// the sockets that it has bound. So it can be told whose a name is. Reads /proc, which costs a process milliseconds at
// its end: ask only when there is a reason.
#include <cstdint>
#include <string>
#include <vector>

namespace distrun::base {

// An entry of one of the directories; of what lies deeper, the entry above it.
struct HeldName {
  std::string path;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const HeldName&, const HeldName&) = default;
};

inline constexpr std::size_t kHeldNamesMax = 1000;

// `process`: "self", or a pid. Each name once, as far as it is still there. What cannot be read is left out.
std::vector<HeldName> held_names(const std::string& process, const std::vector<std::string>& directories);

}  // namespace distrun::base

#include <distrun/plugin/rank/whole_lines.hpp>

#include <atomic>
#include <cstdio>
#include <ios>

namespace distrun::rank {

void print_whole_lines() { std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ); }

}  // namespace distrun::rank

// Replaces the standard library's function, for plugins too: returns the same, but does not change the streams.
[[gnu::visibility("default")]] bool std::ios_base::sync_with_stdio(bool sync) {
  static std::atomic<bool> synced{true};
  return synced.exchange(sync);
}

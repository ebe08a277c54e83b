#pragma once
// Which file an address belongs to, asked from within signal handlers: no lock, no allocation.
//
// With glibc 2.35 and later the loader is asked (_dl_find_object) and knows what was loaded a moment ago; before
// that, a table holds what was there at the last remember_modules().
#include <cstdint>

namespace distrun::rank {

// Lives as long as the file stays loaded: whoever follows `path` does so within survives(), since another thread
// may unload it meanwhile.
struct Module {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t bias = 0;
  const char* path = "";
};

// Not async-signal-safe. At start, and again when something was loaded.
void remember_modules();
// Any thread. Async-signal-safe after remember_modules().
bool find_module(std::uint64_t address, Module& module) noexcept;

}  // namespace distrun::rank

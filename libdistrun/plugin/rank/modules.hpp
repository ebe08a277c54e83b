#pragma once
// Finds the file that an address belongs to, within signal handlers: no lock, no allocation.
//
// With glibc 2.35 and later it asks the loader (_dl_find_object), which also knows files loaded a moment ago; with
// older versions it uses a table of the files present at the last remember_modules().
#include <cstdint>

namespace distrun::rank {

// Valid while the file stays loaded. Read `path` within survives(), since another thread may unload the file meanwhile.
struct Module {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t bias = 0;
  const char* path = "";
};

// Call it at start, and after something was loaded. Not async-signal-safe.
void remember_modules();
// Thread-safe. Async-signal-safe after remember_modules().
bool find_module(std::uint64_t address, Module& module) noexcept;

}  // namespace distrun::rank

#pragma once
// Shared by the fuzz targets. Each is a file with this one function; libFuzzer drives it in a build with DISTRUN_FUZZ,
// and replay_main.cpp runs the committed corpus through it in every other build.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace distrun::fuzz {

// Checks a property of the code under fuzz; if it is broken, ends the run like a crash.
inline void require(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "broken property: %s\n", property);
  std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace distrun::fuzz

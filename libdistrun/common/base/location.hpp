#pragma once
// A source location. clang 14 lacks std::source_location.
#include <cstdint>

namespace distrun::base {

// A line of a source file. A value type; a default-constructed one is unknown.
struct Location {
  const char* file = "";   // valid as long as the program
  std::uint32_t line = 0;  // from 1; 0: unknown

  // As a default argument, returns the caller's location.
  static constexpr Location here(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

}  // namespace distrun::base

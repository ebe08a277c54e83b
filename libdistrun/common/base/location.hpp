#pragma once
// A source location. clang 14 lacks std::source_location.
#include <cstdint>

namespace distrun::base {

struct Location {
  const char* file = "";
  std::uint32_t line = 0;

  // As a default argument, returns the caller's location.
  static constexpr Location here(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

}  // namespace distrun::base

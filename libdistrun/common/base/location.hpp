#pragma once
// Where in the source something happened. std::source_location is missing in clang 14.
#include <cstdint>

namespace distrun::base {

struct Location {
  const char* file = "";
  std::uint32_t line = 0;

  // As a default argument it names the caller.
  static constexpr Location here(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

}  // namespace distrun::base

#pragma once
// Finds a sanitizer's report in the output of a rank.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace distrun::runner {

struct SanitizerReport {
  std::string sanitizer;  // "AddressSanitizer"; "UndefinedBehaviorSanitizer" also where it only says "runtime error"
  std::string summary;    // "heap-buffer-overflow, READ of size 4"; one line, without addresses
  std::string file;       // of the innermost frame outside sanitizers and the system; empty: none is named
  std::uint32_t line = 0;
  friend bool operator==(const SanitizerReport&, const SanitizerReport&) = default;
};

// Returns the first report, since the others often follow from it. Accepts any bytes, in linear time; pure.
std::optional<SanitizerReport> find_sanitizer_report(std::string_view output);

}  // namespace distrun::runner

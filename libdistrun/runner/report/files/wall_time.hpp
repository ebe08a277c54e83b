#pragma once
// Moments as reports write them: 2026-01-31T12:00:00.000Z.
#include <cstdint>
#include <optional>
#include <string>

namespace distrun::report {

// Nanoseconds since 1970; nothing if the text is no such moment, or beyond what 64 bits can say (the year 2261).
std::optional<std::int64_t> try_read_wall_time(const std::string& text);

}  // namespace distrun::report

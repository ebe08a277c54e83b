#pragma once
// Reads times in the format of reports: 2026-01-31T12:00:00.000Z.
#include <cstdint>
#include <optional>
#include <string>

namespace distrun::report {

// Returns nanoseconds since 1970; empty if the text is not such a time or exceeds 64 bits (the year 2261).
std::optional<std::int64_t> try_read_wall_time(const std::string& text);

}  // namespace distrun::report

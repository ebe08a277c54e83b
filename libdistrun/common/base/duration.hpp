#pragma once
// Parses durations: 500ms, 2s, 1.5m, 1h; a plain number is seconds.
#include <string>

#include <distrun/common/base/clock.hpp>

namespace distrun::base {

// Throws Error{InvalidArgument} that names `option`, the text and the allowed range (more than 0, at most 7 days).
Nanoseconds parse_duration(const std::string& option, const std::string& text);

}  // namespace distrun::base

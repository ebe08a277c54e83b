#pragma once
// Waits of ported tests for events that no future reports.
#include <chrono>
#include <string>

#include <distrun/common/base/clock.hpp>

namespace distrun::suites {

// Calls noop() on that rank until it fails with a text that matches `pattern`, and returns that text. Throws
// Error{Timeout}, with the last error, if that does not happen within `limit`.
std::string wait_until_node_failure(int rank, const std::string& pattern = ".*",
                                    base::Nanoseconds limit = std::chrono::minutes(1));

}  // namespace distrun::suites

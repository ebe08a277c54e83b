#pragma once
// What ported tests wait for that no future tells.
#include <chrono>
#include <string>

#include <distrun/common/base/clock.hpp>

namespace distrun::suites {

// Calls noop() of that rank again and again until it fails with a text that holds what `pattern` matches; that text.
// Throws Error{Timeout}, with the last error, where it does not within `limit`.
std::string wait_until_node_failure(int rank, const std::string& pattern = ".*",
                                    base::Nanoseconds limit = std::chrono::minutes(1));

}  // namespace distrun::suites

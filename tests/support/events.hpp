#pragma once
// Reads a run's events.ndjson: what is known of a run that died before it could write a summary.
#include <map>
#include <string>

namespace distrun::testing {

// Returns the verdicts of the finished tests, by id. Throws std::runtime_error for a line that is not JSON, except for
// the last, which is incomplete if its writer died.
std::map<std::string, std::string> verdicts_in_events(const std::string& path);

}  // namespace distrun::testing

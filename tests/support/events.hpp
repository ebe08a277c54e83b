#pragma once
// A run's events.ndjson: what is known of a run that nobody lived to sum up.
#include <map>
#include <string>

namespace distrun::testing {

// The verdicts of the tests that were over, by id. Throws std::runtime_error for a line that is no JSON; the last
// one may be incomplete, since its writer may have died in it.
std::map<std::string, std::string> verdicts_in_events(const std::string& path);

}  // namespace distrun::testing

#pragma once
// Formats a snapshot (Look) of the ranks with colours: their waits, and their stacks.
#include <string>

#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/text/paint.hpp>

namespace distrun::report {

// Begins with a headline: "Ring.pass after 31.2 s, stacks taken in 46 ms". Ends with a newline.
std::string snapshot_text(const std::string& id, const runner::Snapshot& snapshot, const Paint& paint);
// Formats why a test seems to hang, in a line: "Ring.pass after 5.2 s: missing rank (likely): rank 1 sleeps in
// nanosleep".
std::string suspicion_text(const std::string& id, const runner::Snapshot& snapshot, const Paint& paint);
// Formats only the lines.
std::string painted(const std::vector<evidence::Line>& lines, const Paint& paint);

}  // namespace distrun::report

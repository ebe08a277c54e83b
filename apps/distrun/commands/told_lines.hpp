#pragma once
// Prints lines with tones, and reads them from the answers of a run.
#include <string>
#include <vector>

#include <distrun/common/wire/inspect.hpp>
#include <distrun/runner/evidence/stacks/text_line.hpp>

namespace distrun::cli {

void print_lines(const std::vector<evidence::Line>& lines, bool color);
std::vector<evidence::Line> lines_of(const wire::SnapshotText& told);
// Prints each snapshot with its title; says so if the run is running no test.
void print_snapshots(const std::string& run_id, const std::vector<wire::SnapshotText>& snapshots, bool color);
// Returns "Ring.pass after 31.2 s, stacks taken in 46 ms".
std::string title_of(const wire::SnapshotText& told);

}  // namespace distrun::cli

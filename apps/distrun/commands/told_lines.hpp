#pragma once
// Prints lines with tones, and reads them from the answers of a run.
#include <vector>

#include <distrun/common/wire/inspect.hpp>
#include <distrun/runner/evidence/stacks/text_line.hpp>

namespace distrun::cli {

void print_lines(const std::vector<evidence::Line>& lines, bool color);
std::vector<evidence::Line> lines_of(const wire::SnapshotText& told);
// Returns "Ring.pass after 31.2 s, stacks taken in 46 ms".
std::string title_of(const wire::SnapshotText& told);

}  // namespace distrun::cli

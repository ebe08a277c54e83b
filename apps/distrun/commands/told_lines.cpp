#include "told_lines.hpp"

#include <cstdio>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/text/snapshot_text.hpp>

namespace distrun::cli {

void print_lines(const std::vector<evidence::Line>& lines, bool color) {
  std::fputs(report::painted(lines, report::Paint(color)).c_str(), stdout);
}

std::vector<evidence::Line> lines_of(const wire::SnapshotText& told) {
  std::vector<evidence::Line> lines;
  for (const wire::ToldLine& line : told.lines) {
    evidence::Line& to = lines.emplace_back();
    for (const wire::ToldSegment& segment : line.segments) {
      to.add(segment.tone <= static_cast<std::uint8_t>(evidence::Tone::Warn) ? static_cast<evidence::Tone>(segment.tone)
                                                                             : evidence::Tone::Plain,
             segment.text);
    }
  }
  return lines;
}

void print_snapshots(const std::string& run_id, const std::vector<wire::SnapshotText>& snapshots, bool color) {
  if (snapshots.empty()) std::printf("run %s is running no test\n", run_id.c_str());
  for (const wire::SnapshotText& snapshot : snapshots) {
    std::printf("%s\n", title_of(snapshot).c_str());
    print_lines(lines_of(snapshot), color);
  }
}

std::string title_of(const wire::SnapshotText& told) {
  return told.test + " after " + base::human(std::chrono::milliseconds(told.at_ms)) + ", stacks taken in " +
         base::human(std::chrono::milliseconds(told.took_ms));
}

}  // namespace distrun::cli

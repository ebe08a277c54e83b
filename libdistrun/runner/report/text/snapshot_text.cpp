#include <distrun/runner/report/text/snapshot_text.hpp>

#include <distrun/common/base/text.hpp>

namespace distrun::report {
namespace {

Style style_of_tone(evidence::Tone tone) noexcept {
  switch (tone) {
    case evidence::Tone::Plain: return Style::Plain;
    case evidence::Tone::Strong: return Style::Bold;
    case evidence::Tone::Dim: return Style::Dim;
    case evidence::Tone::Warn: return Style::Odd;
  }
  return Style::Plain;
}

}  // namespace

std::string painted(const std::vector<evidence::Line>& lines, const Paint& paint) {
  std::string out;
  for (const evidence::Line& line : lines) {
    for (const evidence::Segment& segment : line.segments) {
      out += segment.tone == evidence::Tone::Plain ? segment.text : paint(style_of_tone(segment.tone), segment.text);
    }
    out += '\n';
  }
  return out;
}

std::string snapshot_text(const std::string& id, const runner::Snapshot& snapshot, const Paint& paint) {
  const std::string head = base::one_line(id, 1000) + " after " + base::human(snapshot.at);
  const std::string took = snapshot.took.count() > 0 ? ", stacks taken in " + base::human(snapshot.took) : "";
  return paint(Style::Bold, head) + paint(Style::Dim, took) + "\n" + painted(snapshot.text, paint);
}

std::string suspicion_text(const std::string& id, const runner::Snapshot& snapshot, const Paint& paint) {
  return paint(Style::Bold, base::one_line(id, 1000) + " after " + base::human(snapshot.at)) + ": " +
         painted(snapshot.text, paint);
}

}  // namespace distrun::report

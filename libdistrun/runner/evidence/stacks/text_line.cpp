#include <distrun/runner/evidence/stacks/text_line.hpp>

namespace distrun::evidence {

Line& Line::add(Tone tone, std::string_view text) {
  if (text.empty()) return *this;
  if (segments.empty() || segments.back().tone != tone) segments.push_back({tone, ""});
  segments.back().text += text;
  return *this;
}

Line& Line::add_front(Tone tone, std::string_view text) {
  if (text.empty()) return *this;
  if (segments.empty() || segments.front().tone != tone) segments.insert(segments.begin(), {tone, ""});
  segments.front().text.insert(0, text);
  return *this;
}

std::string plain(const Line& line) {
  std::string text;
  for (const Segment& segment : line.segments) text += segment.text;
  return text;
}

std::string plain(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) text += plain(line) + "\n";
  return text;
}

}  // namespace distrun::evidence

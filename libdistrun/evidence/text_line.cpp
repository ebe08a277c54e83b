#include <distrun/evidence/text_line.hpp>

#include <utility>

namespace distrun::evidence {

Line& Line::add(Tone tone, std::string text) {
  if (!text.empty()) segments.push_back({tone, std::move(text)});
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

#pragma once
// Lines for people, in pieces that each have a tone: evidence knows what matters, a report knows which colours there
// are.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::evidence {

enum class Tone : std::uint8_t {
  Plain,
  Strong,  // what to look at first
  Dim,     // there to be complete
  Warn,    // not as it should be
};

struct Segment {
  Tone tone = Tone::Plain;
  std::string text;  // printable
  friend bool operator==(const Segment&, const Segment&) = default;
};

struct Line {
  std::vector<Segment> segments;

  // Return the line, so that one can go on. Neighbours of one tone are one segment.
  Line& add(Tone tone, std::string_view text);
  Line& add_front(Tone tone, std::string_view text);
  friend bool operator==(const Line&, const Line&) = default;
};

// Without tones.
std::string plain(const Line& line);
// Each with a newline at its end.
std::string plain(const std::vector<Line>& lines);

}  // namespace distrun::evidence

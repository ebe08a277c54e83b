#pragma once
// Lines of text in pieces with a tone each: evidence decides what matters, a report decides on the colours.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::evidence {

enum class Tone : std::uint8_t {
  Plain,
  Strong,  // look here first
  Dim,     // shown for completeness
  Warn,    // abnormal
};

struct Segment {
  Tone tone = Tone::Plain;
  std::string text;  // printable
  friend bool operator==(const Segment&, const Segment&) = default;
};

struct Line {
  std::vector<Segment> segments;

  // Both return the line, for chaining. Adjacent segments of the same tone are merged.
  Line& add(Tone tone, std::string_view text);
  Line& add_front(Tone tone, std::string_view text);
  friend bool operator==(const Line&, const Line&) = default;
};

// Drops the tones.
std::string plain(const Line& line);
// Ends each line with a newline.
std::string plain(const std::vector<Line>& lines);

}  // namespace distrun::evidence

#include <distrun/runner/report/text/excerpt.hpp>

#include <algorithm>

#include <distrun/common/base/text.hpp>

namespace distrun::report {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

// Returns the length of the longest prefix of whole characters that is at most `width` columns wide.
std::size_t prefix_of_width(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  std::size_t used = 0;
  while (at < text.size()) {
    std::size_t next = at + 1;
    while (next < text.size() && is_continuation(text[next])) ++next;
    used += display_width(text.substr(at, next - at));
    if (used > width) return at;
    at = next;
  }
  return at;
}

std::string cut_line(std::string_view line) {
  if (line.size() <= kLineMax) return std::string(line);
  std::size_t end = kLineMax;
  while (end > 0 && is_continuation(line[end])) --end;
  return std::string(line.substr(0, end)) + "... (" + std::to_string(line.size() - end) + " bytes more)";
}

std::string left_out(std::size_t count, const char* what) {
  return "... " + std::to_string(count) + " " + what + " left out ...";
}

}  // namespace

std::vector<std::string> excerpt_lines(std::string_view text, std::size_t lines_max) {
  std::vector<std::string> lines = base::split_lines(base::printable(text));
  for (std::string& line : lines) line = cut_line(line);
  if (lines.size() <= lines_max) return lines;
  const std::size_t head = lines_max / 2;
  const std::size_t dropped = lines.size() - lines_max;
  const auto from = lines.begin() + static_cast<std::ptrdiff_t>(head);
  *from = left_out(dropped + 1, "lines");
  lines.erase(from + 1, from + 1 + static_cast<std::ptrdiff_t>(dropped));
  return lines;
}

std::string excerpt_bytes(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  const std::size_t half = bytes_max / 2;
  std::size_t head = text.rfind('\n', half);
  head = head == std::string_view::npos ? half : head + 1;
  std::size_t tail = text.find('\n', text.size() - half);
  tail = tail == std::string_view::npos ? text.size() - half : tail + 1;
  std::string result(text.substr(0, head));
  if (!result.ends_with('\n')) result += '\n';
  result += left_out(tail - head, "bytes") + "\n";
  return result.append(text.substr(tail));
}

// Uses no tables: counts all characters from U+1100 as wide.
std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0xe1) {
      width += 2;
    } else if (!is_continuation(c)) {
      width += 1;
    }
  }
  return width;
}

std::string fit(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width <= 3) return std::string(text.substr(0, prefix_of_width(text, width)));
  return std::string(text.substr(0, prefix_of_width(text, width - 3))) + "...";
}

std::string fit_middle(std::string_view text, std::size_t width) {
  if (display_width(text) <= width || width <= 3) return fit(text, width);
  const std::size_t tail_width = (width - 3) * 2 / 3;  // the end of an id says more than its beginning
  const std::size_t head = prefix_of_width(text, width - 3 - tail_width);
  std::size_t tail = text.size();
  while (tail > head) {
    std::size_t before = tail - 1;
    while (before > head && is_continuation(text[before])) --before;
    if (display_width(text.substr(before)) > tail_width) break;
    tail = before;
  }
  return std::string(text.substr(0, head)) + "..." + std::string(text.substr(tail));
}

}  // namespace distrun::report

#include "line_table.hpp"

namespace distrun::probe::python {
namespace {

using Line = std::optional<std::uint32_t>;

// Sums of damaged tables leave the range of lines.
Line valid(std::int64_t line) {
  if (line < 0 || line > INT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(line);
}

std::int64_t step_of_lines(char byte) { return static_cast<signed char>(byte); }
std::int64_t step_of_bytes(char byte) { return static_cast<unsigned char>(byte); }

// Objects/lnotab_notes.txt of 3.8: the line is that of the last step that does not pass the instruction.
Line by_increments(std::string_view table, std::int64_t line, std::int64_t offset) {
  std::int64_t at = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    at += step_of_bytes(table[i]);
    if (at > offset) break;
    line += step_of_lines(table[i + 1]);
  }
  return valid(line);
}

// Objects/lnotab_notes.txt of 3.10: each pair is a range, and the change of line from the range before.
Line by_ranges(std::string_view table, std::int64_t line, std::int64_t offset) {
  constexpr std::int64_t kNoLine = -128;
  std::int64_t end = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    const std::int64_t step = step_of_lines(table[i + 1]);
    if (step != kNoLine) line += step;
    end += step_of_bytes(table[i]);
    if (offset < end) return step == kNoLine ? std::nullopt : valid(line);
  }
  return std::nullopt;
}

// Objects/locations.md of 3.11: numbers of six bits a byte, the lowest first.
std::int64_t read_number(std::string_view table, std::size_t& at) {
  constexpr unsigned kMore = 0x40;
  std::uint64_t value = 0;
  for (unsigned shift = 0; at < table.size() && shift < 36; shift += 6) {
    const auto byte = static_cast<unsigned char>(table[at++]);
    value |= static_cast<std::uint64_t>(byte & 0x3fU) << shift;
    if ((byte & kMore) == 0) break;
  }
  return static_cast<std::int64_t>(value);
}

std::int64_t read_signed(std::string_view table, std::size_t& at) {
  const std::int64_t value = read_number(table, at);
  return (value & 1) != 0 ? -(value >> 1) : value >> 1;
}

// The first byte of an entry has the highest bit set, the others have not: its kind, and its length in instructions.
Line by_locations(std::string_view table, std::int64_t line, std::int64_t offset) {
  constexpr unsigned kFirstByte = 0x80;
  constexpr unsigned kOneLine = 10;  // this and the next two: 0 to 2 lines further
  constexpr unsigned kNoColumns = 13;
  constexpr unsigned kLong = 14;
  constexpr unsigned kNone = 15;
  constexpr std::int64_t kInstruction = 2;  // bytes
  std::int64_t end = 0;
  for (std::size_t at = 0; at < table.size();) {
    const auto first = static_cast<unsigned char>(table[at++]);
    if ((first & kFirstByte) == 0) continue;  // the rest of an entry
    const unsigned kind = (first >> 3U) & 0xfU;
    if (kind == kNoColumns || kind == kLong) line += read_signed(table, at);
    if (kind >= kOneLine && kind < kNoColumns) line += kind - kOneLine;
    end += kInstruction * ((first & 7U) + 1);
    if (offset < end) return kind == kNone ? std::nullopt : valid(line);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint32_t> line_at(LineFormat format, std::string_view table, std::int32_t first_line,
                                     std::int64_t offset) {
  if (offset < 0) return valid(first_line);
  switch (format) {
    case LineFormat::Increments: return by_increments(table, first_line, offset);
    case LineFormat::Ranges: return by_ranges(table, first_line, offset);
    case LineFormat::Locations: return by_locations(table, first_line, offset);
  }
  return std::nullopt;
}

}  // namespace distrun::probe::python

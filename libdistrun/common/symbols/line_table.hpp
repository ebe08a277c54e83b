#pragma once
// Source lines of addresses, out of a program's own debug information: its DWARF line tables (versions 2 to 5), which
// are read from the first to the last. That takes milliseconds, so whoever asks again remembers.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::symbols {

struct LineSections {
  std::string_view lines;  // .debug_line
  std::string_view line_strings;
  std::string_view strings;
};

struct SourceLine {
  std::string file;  // empty: not known
  std::uint32_t line = 0;
};

// In the order of the addresses, which are the file's. Tables that are broken tell nothing.
std::vector<SourceLine> find_lines(const LineSections& sections, std::span<const std::uint64_t> addresses);

}  // namespace distrun::symbols

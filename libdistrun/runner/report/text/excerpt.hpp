#pragma once
// Shortens long text for people.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::report {

// Returns the printable lines of `text`; of more than `lines_max`, the first and last half, with a line "... 80 lines
// left out ..." between them. Cuts lines beyond `kLineMax` bytes.
inline constexpr std::size_t kLineMax = 500;
std::vector<std::string> excerpt_lines(std::string_view text, std::size_t lines_max);

// Keeps, of more than `bytes_max` bytes, the first and last half as whole lines, with such a line between them.
std::string excerpt_bytes(std::string_view text, std::size_t bytes_max);

// Returns the number of columns that a terminal uses for printable `text`, or more.
std::size_t display_width(std::string_view text);
// Cuts to `width` columns, with "..." at the end if it was longer.
std::string fit(std::string_view text, std::size_t width);
// Puts the "..." in the middle instead, for ids that differ at their ends.
std::string fit_middle(std::string_view text, std::size_t width);

}  // namespace distrun::report

#pragma once
// Long text made short enough to read.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::report {

// The lines of `text`, printable; of more than `lines_max` the first and last half, with a line
// "... 80 lines left out ..." between them. Lines beyond `kLineMax` bytes are cut.
inline constexpr std::size_t kLineMax = 500;
std::vector<std::string> excerpt_lines(std::string_view text, std::size_t lines_max);

// Of more than `bytes_max` bytes the first and last half as whole lines, with such a line between.
std::string excerpt_bytes(std::string_view text, std::size_t bytes_max);

// The columns that a terminal uses for `text`, which is printable: never too few.
std::size_t display_width(std::string_view text);
// Cut to `width` columns, with "..." at its end if it was longer.
std::string fit(std::string_view text, std::size_t width);
// The same with the "..." in its middle, for ids that differ at their ends.
std::string fit_middle(std::string_view text, std::size_t width);

}  // namespace distrun::report

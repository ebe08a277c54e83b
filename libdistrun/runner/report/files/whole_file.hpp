#pragma once
// A report that is there as a whole or not at all.
#include <string>
#include <string_view>

namespace distrun::report {

// Writes `content` beside `path` and renames it over, so that whoever reads `path` sees the old
// report or the new one. What is no regular file ("-", devices, FIFOs) is written directly.
// Throws Error{Failed} "cannot write PATH: REASON"; nothing of the attempt is left then.
void write_whole_file(const std::string& path, std::string_view content);

}  // namespace distrun::report

#pragma once
// Writes a report so that it exists completely or not at all.
#include <string>
#include <string_view>

namespace distrun::report {

// Writes `content` to a file beside `path` and renames it, so that a reader of `path` sees the old report or the new
// one. A path that is not a regular file ("-", devices, FIFOs) is written directly. Throws Error{Failed} "cannot write
// PATH: REASON", and leaves no temporary file behind.
void write_whole_file(const std::string& path, std::string_view content);

}  // namespace distrun::report

#pragma once
// Resolves the path given for a report.
#include <optional>
#include <string>

#include <distrun/common/base/fd.hpp>

namespace distrun::report {

// Returns the descriptor named by `path`: "-" and /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N. It must be
// written directly: opening the path again would start at the beginning of the file, and replacing the file by rename
// would hide the report from the descriptor's reader.
std::optional<int> descriptor_named(const std::string& path);

struct Destination {
  base::Fd fd;
  bool regular = false;  // a file that can be truncated
};

// Opens for writing from the start; a regular file has one such writer at a time. Does not wait for the reader of a
// FIFO. Throws Error{Failed} if there is no such reader, if another run is writing the file, or for any other reason.
Destination open_destination(const std::string& path);

}  // namespace distrun::report

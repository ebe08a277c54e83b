#pragma once
// What a path given for a report means.
#include <optional>
#include <string>

#include <distrun/common/base/fd.hpp>

namespace distrun::report {

// The descriptor that `path` names: "-" and /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N.
// It must be written as it is: opened anew it would start at the beginning, renamed over it would
// be cut off from whoever reads it.
std::optional<int> descriptor_named(const std::string& path);

struct Destination {
  base::Fd fd;
  bool regular = false;  // a file of our own, that can be cut back
};

// Opens for writing, from the start; a regular file has one such writer at a time. Does not wait for the reader of a
// FIFO, without one it throws Error{Failed} as it does for every other reason: that another run writes the file, too.
Destination open_destination(const std::string& path);

}  // namespace distrun::report

#pragma once
// A line of /proc/PID/maps: "7f4b1000-7f4b2000 rw-s 00001000 00:17 1234    /dev/shm/x". Pure.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace distrun::evidence {

// The texts are parts of the line.
struct MappingLine {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string_view rights;   // "rw-s"
  std::uint64_t offset = 0;  // in the file
  std::string_view device;   // "00:17"
  std::string_view inode;
  std::string_view path;  // as the kernel writes it, perhaps with spaces; empty: no file
};
// Returns nothing for any other text.
std::optional<MappingLine> parse_mapping(std::string_view line);

// Returns the path by which the kernel opens the file of a mapping, also if it is gone or out of sight.
std::string mapped_file(pid_t tid, std::uint64_t begin, std::uint64_t end);

}  // namespace distrun::evidence

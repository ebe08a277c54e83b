#pragma once
// The soft resource limits that mark a rank (RLIMIT_LOCKS carries the tag of its attempt) or are given back to it.
#include <cstdint>

namespace distrun::rank {

void set_tag(std::uint64_t tag);
std::uint64_t tag();
// The descriptor limit that the user had; 0: as it is.
void restore_files_limit(std::uint64_t files_max);

}  // namespace distrun::rank

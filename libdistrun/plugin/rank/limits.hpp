#pragma once
// The soft resource limits that mark a rank (RLIMIT_LOCKS holds its attempt's tag) or are restored for it.
#include <cstdint>

namespace distrun::rank {

void set_tag(std::uint64_t tag);
std::uint64_t tag();
// Restores the user's limit of open files; 0: leaves it unchanged.
void restore_files_limit(std::uint64_t files_max);

}  // namespace distrun::rank

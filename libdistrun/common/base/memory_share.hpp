#pragma once
// How much memory a process may let pile up for its peers.
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace distrun::base {

// Returns a quarter of the machine's memory, but at least 1 GiB.
inline std::uint64_t quarter_of_memory() noexcept {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 30;
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return kLeast;
  return std::max(kLeast, static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) / 4);
}

}  // namespace distrun::base

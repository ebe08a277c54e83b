#pragma once
// Names of the process-group backends: the values of --backend, which tests also use. A build may lack some of them;
// plugins can add backends (plugin/sdk/backends.hpp).
#include <algorithm>
#include <array>
#include <string_view>

namespace distrun::wire {

inline constexpr std::array<std::string_view, 6> kBackendNames{"shm", "gloo", "nccl", "mpi", "ucc", "threads"};

// Returns true for a name that distrun only accepts: it has no such backend, but plugins may bring one.
constexpr bool is_only_of_plugins(std::string_view name) noexcept { return name == "mpi" || name == "ucc"; }

inline bool is_backend_name(std::string_view name) noexcept {
  return std::find(kBackendNames.begin(), kBackendNames.end(), name) != kBackendNames.end();
}

}  // namespace distrun::wire

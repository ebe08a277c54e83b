#pragma once
// The process-group backends by name: what --backend takes and what tests ask for. Not all of them are there in each
// build; plugins bring further ones (plugin/sdk/backends.hpp).
#include <algorithm>
#include <array>
#include <string_view>

namespace distrun::base {

inline constexpr std::array<std::string_view, 6> kBackendNames{"shm", "gloo", "nccl", "mpi", "ucc", "threads"};

inline bool is_backend_name(std::string_view name) noexcept {
  return std::find(kBackendNames.begin(), kBackendNames.end(), name) != kBackendNames.end();
}

}  // namespace distrun::base

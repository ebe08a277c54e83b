#pragma once
// Ranks of a contract's group on two hosts: processes at two addresses of loopback, every other one on host b.
#include <optional>
#include <string>

#include "unit/core/on_host.hpp"

namespace distrun::collectives {

inline std::string hosts_of(int ranks) {
  std::string a, b;
  for (int rank = 0; rank < ranks; ++rank) {
    std::string& host = rank % 2 == 0 ? a : b;
    host += (host.empty() ? "" : ",") + std::to_string(rank);
  }
  return "a=" + a + ";b=" + b;
}

// In the rank's process. A single rank needs one host.
inline void begin_on_host(std::optional<testing::OnHost>& host, int rank, int ranks) {
  if (ranks > 1) host.emplace(hosts_of(ranks), rank % 2 == 0 ? "127.0.0.1" : "127.0.0.2", rank);
}

}  // namespace distrun::collectives

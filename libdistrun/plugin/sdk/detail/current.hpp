#pragma once
// Which rank a thread works for: the one it is bound to, else the one that the process is.
#include <distrun/plugin/sdk/context.hpp>

namespace distrun::detail {

// Null outside a test.
Rank* current_rank() noexcept;

// While it lives, the process is that rank. One at a time.
class ProcessRank {
 public:
  explicit ProcessRank(Rank& rank) noexcept;
  ProcessRank(const ProcessRank&) = delete;
  ProcessRank& operator=(const ProcessRank&) = delete;
  ~ProcessRank();
};

}  // namespace distrun::detail

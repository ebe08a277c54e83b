#pragma once
// The rank of a thread: the one it is bound to, else that of the process.
#include <distrun/plugin/sdk/context.hpp>

namespace distrun::detail {

// Null outside a test.
Rank* current_rank() noexcept;

// Makes the process that rank while it lives. One at a time.
class ProcessRank {
 public:
  explicit ProcessRank(Rank& rank) noexcept;
  ProcessRank(const ProcessRank&) = delete;
  ProcessRank& operator=(const ProcessRank&) = delete;
  ~ProcessRank();
};

}  // namespace distrun::detail

#pragma once
// Returns whether any rank of this process is traced (tracing.hpp); for use in headers.
#include <atomic>

namespace distrun::core {

namespace detail {
struct TracedRank;
extern constinit std::atomic<TracedRank*> traced_ranks;  // null: none
}  // namespace detail

inline bool is_traced() noexcept { return detail::traced_ranks.load(std::memory_order_acquire) != nullptr; }

}  // namespace distrun::core

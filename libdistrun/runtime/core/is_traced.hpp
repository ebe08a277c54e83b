#pragma once
// Whether anything is written down of what the ranks of this process do (tracing.hpp), for what is in headers.
#include <atomic>

namespace distrun::core {

namespace detail {
struct TracedRank;
extern constinit std::atomic<TracedRank*> traced_ranks;  // null: none
}  // namespace detail

inline bool is_traced() noexcept { return detail::traced_ranks.load(std::memory_order_acquire) != nullptr; }

}  // namespace distrun::core

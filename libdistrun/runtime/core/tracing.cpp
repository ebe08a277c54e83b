#include <distrun/runtime/core/tracing.hpp>

#include <cstdlib>
#include <mutex>

#include <distrun/runtime/core/rank_state.hpp>

namespace distrun::core {

namespace detail {

// One for each rank of the process that was ever traced; never destroyed, since threads may outlive a test.
struct TracedRank {
  RankState* state = nullptr;
  trace::Writer writer;
  TracedRank* next = nullptr;
};

constinit std::atomic<TracedRank*> traced_ranks{nullptr};

namespace {

TracedRank* find(const RankState& state) noexcept {
  TracedRank* each = traced_ranks.load(std::memory_order_acquire);
  while (each != nullptr && each->state != &state) each = each->next;
  return each;
}

}  // namespace

// Returns the writer of the calling thread's rank; if that is not traced, of the rank that was traced first, which is
// last in the list.
trace::Writer* tracer_of_thread() noexcept {
  TracedRank* found = find(rank_state());
  if (found == nullptr) found = traced_ranks.load(std::memory_order_acquire);
  while (found->state != &rank_state() && found->next != nullptr) found = found->next;
  return &found->writer;
}

}  // namespace detail

// Errors are not reported here: distrun-rank has opened the same memory and reported them.
void trace_rank(RankState& state, int rank) {
  static std::mutex attaching;
  const char* const path = std::getenv(trace::kVariable);
  if (path == nullptr || *path == '\0') return;
  const std::lock_guard lock(attaching);
  detail::TracedRank* traced = detail::find(state);
  if (traced != nullptr) {
    traced->writer.follow(path, rank);
    return;
  }
  traced = new detail::TracedRank{&state, {}, detail::traced_ranks.load(std::memory_order_relaxed)};
  traced->writer.follow(path, rank);
  detail::traced_ranks.store(traced, std::memory_order_release);
}

}  // namespace distrun::core

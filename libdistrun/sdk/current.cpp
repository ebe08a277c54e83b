#include <distrun/sdk/current.hpp>

#include <atomic>
#include <utility>

namespace distrun {
namespace {

std::atomic<Rank*>& rank_of_process() noexcept {
  static std::atomic<Rank*> rank{nullptr};
  return rank;
}

Rank*& rank_of_thread() noexcept {
  thread_local Rank* rank = nullptr;
  return rank;
}

}  // namespace

namespace detail {

Rank* current_rank() noexcept {
  if (Rank* rank = rank_of_thread()) return rank;
  return rank_of_process().load(std::memory_order_acquire);
}

ProcessRank::ProcessRank(Rank& rank) noexcept { rank_of_process().store(&rank); }

ProcessRank::~ProcessRank() { rank_of_process().store(nullptr); }

}  // namespace detail

RankBinding::RankBinding(Rank& rank) noexcept : before_(std::exchange(rank_of_thread(), &rank)) {}

RankBinding::~RankBinding() { rank_of_thread() = before_; }

Rank& this_rank() {
  Rank* rank = detail::current_rank();
  if (rank == nullptr) throw Error(ErrorKind::Failed, "no test is running on this thread; a thread that a test "
                                              "starts is bound to its rank by distrun::RankBinding bound(rank)");
  return *rank;
}

}  // namespace distrun

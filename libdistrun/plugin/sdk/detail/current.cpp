#include <distrun/plugin/sdk/detail/current.hpp>

#include <atomic>
#include <cstddef>
#include <utility>

#include <distrun/plugin/sdk/detail/runtime.h>

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

RankBinding::RankBinding(Rank& rank) noexcept : before_(std::exchange(rank_of_thread(), &rank)) {
  const distrun_rank& line = rank.line();
  binds_runtime_ = line.shares_process != 0 && distrun_runtime_bind != nullptr;
  if (binds_runtime_) runtime_before_ = distrun_runtime_bind(&line);
  constexpr std::size_t kEnd = offsetof(distrun_rank, unbind) + sizeof(line.unbind);
  if (line.size < kEnd || line.bind == nullptr) return;
  unbind_ = line.unbind;
  bound_before_ = line.bind(line.self);
}

RankBinding::~RankBinding() {
  rank_of_thread() = before_;
  if (binds_runtime_) distrun_runtime_unbind(runtime_before_);
  if (unbind_ != nullptr) unbind_(bound_before_);
}

Rank& this_rank() {
  Rank* rank = detail::current_rank();
  if (rank == nullptr)
    throw Error(ErrorKind::Failed,
                "no test is running on this thread; bind a thread that a test starts to its rank with "
                "distrun::RankBinding bound(rank)");
  return *rank;
}

}  // namespace distrun

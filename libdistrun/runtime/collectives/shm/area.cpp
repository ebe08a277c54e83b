#include <distrun/runtime/collectives/shm/area.hpp>

#include <unistd.h>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/rank_state.hpp>

namespace distrun::collectives::shm {
Area::Area(int ranks) : layout_(ranks), memory_("group", layout_.size()), sitters_(static_cast<std::size_t>(ranks)) {
  head().magic = kMagic;
}

Area::Area(int ranks, const core::SharedAddress& address)
    : layout_(ranks), memory_(address, layout_.size()), sitters_(static_cast<std::size_t>(ranks)) {
  if (head().magic != kMagic) {
    throw Error(ErrorKind::Failed, "ranks of a group need the same version of distrun: their shared memory differs");
  }
}

void Area::take_seat(int rank) noexcept {
  Sitter& own = sitter(rank);
  own.state = &core::rank_state();
  own.pid.store(::getpid());
  if (!own.is_here.exchange(true)) here_.fetch_add(1);
  seat(rank).pid = ::getpid();
}

// A rank that has met a death elsewhere, in another group, mostly leaves because of it.
void Area::end(int rank, Presence how, const std::string& why) noexcept {
  if (const auto death = sitter(rank).state->noted_death()) blame({death->rank, death->pid});
  seat(rank).show_end(how, why);
  if (far_side_ != nullptr) far_side_->show_end(how, why);
  sitter(rank).has_ended.store(true);
}

int Area::pid_of(int rank) const noexcept {
  std::atomic<int>& known = sitter(rank).pid;
  if (far_side_ != nullptr) return known.load(std::memory_order_relaxed);
  int pid = known.load(std::memory_order_relaxed);
  if (pid != 0) return pid;
  const int shown = seat(rank).pid.load();
  return known.compare_exchange_strong(pid, shown) ? shown : pid;
}

void Area::blame(Cause cause) const noexcept {
  if (cause.rank < 0) return;
  std::uint64_t none = 0;
  const std::uint64_t shown =
      (static_cast<std::uint64_t>(cause.rank) + 1) << 32 | static_cast<std::uint32_t>(cause.pid);
  if (head().cause.compare_exchange_strong(none, shown) && far_side_ != nullptr) far_side_->show_cause(shown);
}

// Ignores a cause with a live process, since every process of the group may write there; on another host the process
// cannot be looked up. A process that the kernel
// still takes apart counts as dead, as for the rank that wrote the cause.
std::optional<Cause> Area::cause() const noexcept {
  constexpr std::uint64_t kRanksMost = 1 << 16;  // in a test
  const std::uint64_t shown = head().cause.load();
  const std::uint64_t rank = shown >> 32;
  const int pid = static_cast<int>(static_cast<std::uint32_t>(shown));
  if (rank == 0 || rank > kRanksMost || pid < 0 || (pid != 0 && far_side_ == nullptr && !core::is_ending(pid)))
    return std::nullopt;
  return Cause{static_cast<int>(rank) - 1, pid};
}

}  // namespace distrun::collectives::shm

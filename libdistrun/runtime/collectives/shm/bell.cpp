#include <distrun/runtime/collectives/shm/bell.hpp>

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>

namespace distrun::collectives::shm {
namespace {

constexpr int kSpins = 1000;  // some 40 us

// Whoever dies without a runner that tells is found so.
constexpr base::Nanoseconds kCheck = std::chrono::milliseconds(500);

int cpus() {
  cpu_set_t usable;
  const bool told = ::sched_getaffinity(0, sizeof usable, &usable) == 0;
  return told ? CPU_COUNT(&usable) : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
}

std::uint32_t* word_of(std::atomic<std::uint32_t>& bell) { return reinterpret_cast<std::uint32_t*>(&bell); }

// Until it is no longer `value`, somebody has rung, or then.
void sleep_on(std::atomic<std::uint32_t>& bell, std::uint32_t value, base::TimePoint until) {
  const auto ns = std::chrono::duration_cast<base::Nanoseconds>(until.time_since_epoch()).count();
  const timespec at{static_cast<std::time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  ::syscall(SYS_futex, word_of(bell), FUTEX_WAIT_BITSET, value, &at, nullptr, FUTEX_BITSET_MATCH_ANY);
}

void strike(Seat& seat) noexcept {
  seat.bell.fetch_add(1);
  ::syscall(SYS_futex, word_of(seat.bell), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

Bells::Bells(std::shared_ptr<Area> area, const GroupInfo& group)
    : area_(std::move(area)), group_(group), spins_(group.size() <= cpus() ? kSpins : 0) {}

void Bells::ring(int rank) const noexcept {
  Seat& seat = area_->seat(rank);
  if (seat.sleepers.load() != 0) strike(seat);
}

void Bells::ring_all() const noexcept {
  for (int rank = 0; rank < group_.size(); ++rank) {
    if (rank != group_.rank) ring(rank);
  }
}

void Bells::yield() noexcept { ::sched_yield(); }

board::PeerSet Bells::peers(const std::vector<int>& places) const {
  board::PeerSet set;
  for (const int place : places) set.add(group_.ranks[static_cast<std::size_t>(place)]);
  return set;
}

core::WaitEnd Bells::sleep(const Awaited& awaited, const std::function<bool()>& ready) const {
  Seat& own = area_->seat(group_.rank);
  board::WaitInfo info = awaited.info;
  info.peers = peers(awaited.missing());
  const core::Wait shown(info, awaited.deadline);
  const core::PeerFailedCall wake(core::rank_state(), [&own](const core::PeerFailure&) { strike(own); });
  own.sleepers.fetch_add(1);
  const core::WaitEnd end = sleep_until_ready(awaited, ready);
  own.sleepers.fetch_sub(1);
  return end;
}

core::WaitEnd Bells::sleep_until_ready(const Awaited& awaited, const std::function<bool()>& ready) const {
  Seat& own = area_->seat(group_.rank);
  const core::RankState& rank = core::rank_state();
  for (;;) {
    const std::uint32_t rung = own.bell.load();
    if (ready()) return core::WaitEnd::Ready;
    if (rank.has_failed_peer()) return core::WaitEnd::PeerFailed;
    const base::TimePoint now = base::system_clock().now();
    if (now >= awaited.deadline) return core::WaitEnd::Timeout;
    sleep_on(own.bell, rung, std::min(awaited.deadline, now + kCheck));
    const auto is_gone = [&](int place) {
      const int pid = area_->seat(place).pid.load();
      return pid != 0 && !core::is_alive(pid);
    };
    const std::vector<int> missing = awaited.missing();
    if (std::any_of(missing.begin(), missing.end(), is_gone) && !ready()) return core::WaitEnd::PeerFailed;
  }
}

}  // namespace distrun::collectives::shm

#include <distrun/runtime/collectives/shm/bell.hpp>

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>
#include <mutex>
#include <numeric>

#include <distrun/runtime/core/cpus.hpp>
#include <distrun/runtime/core/process_end.hpp>

namespace distrun::collectives::shm {
namespace {

constexpr int kSpins = 1000;  // about 40 us

// A wait longer than this asks to be notified when other processes end.
constexpr base::Nanoseconds kShort = std::chrono::milliseconds(1);

// Interval for checking processes; the shorter one applies to those without notification, for lack of descriptors or in
// a forked process.
constexpr base::Nanoseconds kCheck = std::chrono::milliseconds(500), kCheckUntold = std::chrono::milliseconds(10);

std::uint32_t* word_of(std::atomic<std::uint32_t>& bell) { return reinterpret_cast<std::uint32_t*>(&bell); }

// Sleeps until the bell differs from `value`, is rung, or the time is reached.
void sleep_on(std::atomic<std::uint32_t>& bell, std::uint32_t value, base::TimePoint until) {
  const auto ns = std::chrono::duration_cast<base::Nanoseconds>(until.time_since_epoch()).count();
  const timespec at{static_cast<std::time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  ::syscall(SYS_futex, word_of(bell), FUTEX_WAIT_BITSET, value, &at, nullptr, FUTEX_BITSET_MATCH_ANY);
}

// Announces that a thread of the rank waits for the bell.
class Sleeper {
 public:
  explicit Sleeper(Seat& own) : own_(own) { own_.sleepers.fetch_add(1); }
  ~Sleeper() { own_.sleepers.fetch_sub(1); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

 private:
  Seat& own_;
};

}  // namespace

void strike(Seat& seat) noexcept {
  seat.bell.fetch_add(1);
  ::syscall(SYS_futex, word_of(seat.bell), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// Watches the processes of ranks that were waited for; their ends ring this rank's bell. Thread-safe.
class Bells::PeerEnds {
 public:
  PeerEnds(std::shared_ptr<Area> area, const GroupInfo& group)
      : area_(std::move(area)), own_(area_->seat(group.rank)), peers_(static_cast<std::size_t>(group.size())) {}

  struct Look {
    bool any_gone = false;
    bool all_told = true;  // all ends are notified from now on
  };
  Look look(const std::vector<int>& places) {
    const std::lock_guard lock(mutex_);
    Look all;
    for (const int place : places) look(place, all);
    return all;
  }
  // Returns true if one of the watched processes has ended, or a connection to one.
  bool has_any() const noexcept { return any_.load() || area_->has_lost_any(); }

 private:
  struct Peer {
    std::atomic<bool> gone{false};
    std::unique_ptr<core::ProcessEnd> end;  // destroyed before what it sets
  };

  void look(int place, Look& all) {
    Peer& peer = peers_[static_cast<std::size_t>(place)];
    const int pid = area_->pid_of(place);
    all.any_gone |= area_->has_lost(place);
    if (pid == 0 || pid == ::getpid()) return;  // it has not arrived yet, or is a thread of this process
    if (peer.end == nullptr) peer.end = std::make_unique<core::ProcessEnd>(pid, [this, &peer] { tell(peer); });
    const bool is_told = peer.end->is_told();
    all.all_told &= is_told;
    all.any_gone |= peer.gone.load() || (!is_told && !core::is_alive(pid));
  }
  void tell(Peer& peer) noexcept {
    peer.gone.store(true);
    any_.store(true);
    strike(own_);
  }

  const std::shared_ptr<Area> area_;
  Seat& own_;
  std::atomic<bool> any_{false};
  std::mutex mutex_;
  std::vector<Peer> peers_;  // their `end` is guarded by mutex_
};

Bells::Bells(std::shared_ptr<Area> area, const GroupInfo& group)
    : area_(std::move(area)),
      group_(group),
      ends_(std::make_shared<PeerEnds>(area_, group)),
      spins_(group.size() <= core::cpus() ? kSpins : 0) {}

void Bells::ring(int rank) const noexcept {
  Seat& seat = area_->seat(rank);
  if (seat.sleepers.load() != 0) strike(seat);
}

void Bells::ring_all() const noexcept {
  for (int rank = 0; rank < group_.size(); ++rank) {
    if (rank != group_.rank) ring(rank);
  }
}

// If memory is short, a long wait tries again.
void Bells::watch_all() const noexcept {
  try {
    std::vector<int> places(static_cast<std::size_t>(group_.size()));
    std::iota(places.begin(), places.end(), 0);
    ends_->look(places);
  } catch (const std::exception&) {
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
  const Sleeper shown_to_others(own);
  return sleep_until_ready(awaited, ready);
}

core::WaitEnd Bells::sleep_until_ready(const Awaited& awaited, const std::function<bool()>& ready) const {
  Seat& own = area_->seat(group_.rank);
  const core::RankState& rank = core::rank_state();
  base::TimePoint check = base::system_clock().now() + kShort;
  for (;;) {
    const std::uint32_t rung = own.bell.load();
    if (ready()) return core::WaitEnd::Ready;
    if (rank.has_failed_peer()) return core::WaitEnd::PeerFailed;
    const base::TimePoint now = base::system_clock().now();
    const bool is_over = now >= awaited.deadline;
    if (is_over || now >= check || ends_->has_any()) {
      const PeerEnds::Look look = ends_->look(awaited.missing());
      if (look.any_gone && !ready()) return core::WaitEnd::PeerFailed;
      check = now + (look.all_told ? kCheck : kCheckUntold);
    }
    if (is_over) return ready() ? core::WaitEnd::Ready : core::WaitEnd::Timeout;
    sleep_on(own.bell, rung, std::min(awaited.deadline, check));
  }
}

}  // namespace distrun::collectives::shm

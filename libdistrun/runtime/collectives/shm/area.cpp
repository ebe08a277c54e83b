#include <distrun/runtime/collectives/shm/area.hpp>

#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <sstream>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/explain.hpp>
#include <distrun/runtime/core/deaths.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/store/awaited_ranks.hpp>

namespace distrun::collectives::shm {
namespace {

constexpr char kKey[] = "area";

std::string to_text(const core::SharedAddress& address) {
  std::ostringstream text;
  text << address.inode << ' ' << address.pid << ' ' << address.fd;
  return text.str();
}

core::SharedAddress parse_address(const std::string& text) {
  core::SharedAddress address;
  std::istringstream words(text);
  if (words >> address.inode >> address.pid >> address.fd) return address;
  throw Error(ErrorKind::Failed, "the store's \"area\" is not an address of shared memory: \"" + text + "\"");
}

// The areas of this process, shared by its ranks.
struct Areas {
  std::mutex mutex;
  std::map<std::uint64_t, std::weak_ptr<Area>> by_inode;  // guarded by mutex
};

Areas& areas() {
  static auto* const only = new Areas;
  return *only;
}

std::shared_ptr<Area> make_area(const GroupInfo& group) {
  auto area = std::make_shared<Area>(group.size());
  Areas& all = areas();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.by_inode, [](const auto& each) { return each.second.expired(); });
  all.by_inode[area->address().inode] = area;
  return area;
}

std::shared_ptr<Area> open_area(const GroupInfo& group, const core::SharedAddress& address) {
  if (address.pid == ::getpid()) {
    Areas& all = areas();
    const std::lock_guard lock(all.mutex);
    if (auto own = all.by_inode[address.inode].lock()) return own;
  }
  try {
    return std::make_shared<Area>(group.size(), address);
  } catch (Error& error) {
    if (!core::is_alive(address.pid)) {
      core::rank_state().note_death({group.ranks.front(), address.pid});
      const std::string process = "process " + std::to_string(address.pid);
      throw base::PeerFailed(name_of(group, CallKind::Barrier, 0) + ": " + ranks_text(group, {0}) + " is gone: its " +
                                 process + " has ended",
                             group.ranks.front());
    }
    error.while_doing("group " + group.name + " (all ranks must be on one machine and of one user)");
    throw;
  }
}

// Waits until the first rank has stored the address, at most until the deadline, even if the store's timeout is longer.
std::string wait_for_address(Store& store, const GroupInfo& group, base::TimePoint deadline) {
  const base::TimePoint begin = base::system_clock().now();
  const std::vector<int> first{group.ranks.front()};
  const stores::AwaitedRanks shown(first, core::are_all_ranks(group.ranks.size()) ? first : std::vector<int>());
  try {
    store.wait({kKey}, std::min(std::max(deadline - begin, base::Nanoseconds::zero()), store.timeout()));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Timeout) throw;
    throw_timeout(group, Call(), begin, {0});
  }
  return store.get(kKey);
}

}  // namespace

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
  sitter(rank).has_ended.store(true);
}

int Area::pid_of(int rank) const noexcept {
  std::atomic<int>& known = sitter(rank).pid;
  int pid = known.load(std::memory_order_relaxed);
  if (pid != 0) return pid;
  const int shown = seat(rank).pid.load();
  return known.compare_exchange_strong(pid, shown) ? shown : pid;
}

void Area::blame(Cause cause) const noexcept {
  if (cause.rank < 0) return;
  std::uint64_t none = 0;
  head().cause.compare_exchange_strong(
      none, (static_cast<std::uint64_t>(cause.rank) + 1) << 32 | static_cast<std::uint32_t>(cause.pid));
}

// Ignores a cause with a live process, since every process of the group may write there. A process that the kernel
// still takes apart counts as dead, as for the rank that wrote the cause.
std::optional<Cause> Area::cause() const noexcept {
  constexpr std::uint64_t kRanksMost = 1 << 16;  // in a test
  const std::uint64_t shown = head().cause.load();
  const std::uint64_t rank = shown >> 32;
  const int pid = static_cast<int>(static_cast<std::uint32_t>(shown));
  if (rank == 0 || rank > kRanksMost || pid < 0 || (pid != 0 && !core::is_ending(pid))) return std::nullopt;
  return Cause{static_cast<int>(rank) - 1, pid};
}

std::shared_ptr<Area> Area::meet(Store& store, const GroupInfo& group, base::TimePoint deadline) {
  if (group.size() > kRanksMax) {
    throw Error(ErrorKind::Unimplemented,
                "groups have at most " + std::to_string(kRanksMax) + " ranks, not " + std::to_string(group.size()));
  }
  if (group.rank != 0) return open_area(group, parse_address(wait_for_address(store, group, deadline)));
  auto area = make_area(group);
  store.set(kKey, to_text(area->address()));
  return area;
}

}  // namespace distrun::collectives::shm

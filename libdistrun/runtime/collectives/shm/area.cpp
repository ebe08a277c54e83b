#include <distrun/runtime/collectives/shm/area.hpp>

#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <sstream>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/explain.hpp>
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
  throw Error(ErrorKind::Failed, "the store's \"area\" is no address of shared memory but \"" + text + "\"");
}

// Of this process, for its own ranks.
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
      const std::string process = "process " + std::to_string(address.pid);
      throw base::PeerFailed(name_of(group, CallKind::Barrier, 0) + ": " + ranks_text(group, {0}) + " is gone: its " +
                                 process + " has ended",
                             group.ranks.front());
    }
    error.while_doing("group " + group.name + " (all ranks on one machine, of one user)");
    throw;
  }
}

// Until the first rank has told it; the store may have more patience.
std::string wait_for_address(Store& store, const GroupInfo& group, base::TimePoint deadline) {
  const base::TimePoint begin = base::system_clock().now();
  const stores::AwaitedRanks shown({group.ranks.front()});
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
    throw Error(ErrorKind::Failed, "ranks of one group need one version of distrun: their shared memory differs");
  }
}

void Area::take_seat(int rank) noexcept {
  Sitter& own = sitter(rank);
  own.pid.store(::getpid());
  if (!own.is_here.exchange(true)) here_.fetch_add(1);
  seat(rank).pid = ::getpid();
}

void Area::end(int rank, Presence how, const std::string& why) noexcept {
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

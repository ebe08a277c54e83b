#include <distrun/runtime/collectives/shm/meeting.hpp>

#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <sstream>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/explain.hpp>
#include <distrun/runtime/collectives/hosts_of_group.hpp>
#include <distrun/runtime/collectives/shm/mirror.hpp>
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
  const Call start = start_until(deadline);
  const std::vector<int> first{group.ranks.front()};
  const stores::AwaitedRanks shown(first, core::are_all_ranks(group.ranks.size()) ? first : std::vector<int>());
  try {
    store.wait({kKey}, std::min(std::max(start.timeout, base::Nanoseconds::zero()), store.timeout()));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Timeout) throw;
    throw_timeout(group, start, {0});
  }
  return store.get(kKey);
}

}  // namespace

std::shared_ptr<Area> meet(Store& store, const GroupInfo& group, base::TimePoint deadline) {
  if (group.size() > kRanksMax) {
    throw Error(ErrorKind::Unimplemented,
                "groups have at most " + std::to_string(kRanksMax) + " ranks, not " + std::to_string(group.size()));
  }
  const std::vector<std::string> hosts = hosts_of_group(store, group, deadline);
  if (!hosts.empty()) {
    auto area = std::make_shared<Area>(group.size());
    area->use(std::make_unique<Mirror>(*area, group, connect_ranks(store, group, hosts, deadline)));
    return area;
  }
  if (group.rank != 0) return open_area(group, parse_address(wait_for_address(store, group, deadline)));
  auto area = make_area(group);
  store.set(kKey, to_text(area->address()));
  return area;
}

}  // namespace distrun::collectives::shm

#include <distrun/runner/nodes/split_world.hpp>

#include <algorithm>
#include <string>

#include <distrun/common/base/check.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::nodes {
namespace {

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

[[noreturn]] void refuse(int world_size, const std::vector<HostSlot>& hosts, int fit, int per_host) {
  const std::string rule = per_host > 0 ? "--per-host " + std::to_string(per_host) : "the numbers of ranks in the list";
  throw Error(ErrorKind::InvalidArgument, "a world of " + counted(static_cast<std::size_t>(world_size), "rank") +
                                              " does not fit on " + counted(hosts.size(), "host") + ": by " + rule +
                                              ", " + std::to_string(fit) + " fit; name more hosts, allow more ranks " +
                                              "on each, or use a smaller --world-size");
}

// Shares `left` ranks among the hosts without a number. Returns false if each has one.
bool share_evenly(int left, const std::vector<HostSlot>& hosts, std::vector<int>& ranks) {
  const auto open = [](const HostSlot& host) { return host.ranks == 0; };
  const auto count = static_cast<int>(std::count_if(hosts.begin(), hosts.end(), open));
  if (count == 0) return false;
  int more = left % count;  // hosts that take one more
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (open(hosts[i])) ranks[i] = left / count + (more-- > 0 ? 1 : 0);
  }
  return true;
}

}  // namespace

std::vector<int> split_world(int world_size, const std::vector<HostSlot>& hosts, int per_host) {
  DISTRUN_ASSERT(world_size > 0);
  DISTRUN_ASSERT(!hosts.empty());
  DISTRUN_ASSERT(per_host >= 0);
  std::vector<int> ranks(hosts.size(), 0);
  int left = world_size;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    ranks[i] = std::min(left, per_host > 0 ? per_host : hosts[i].ranks);
    left -= ranks[i];
  }
  if (left > 0 && (per_host > 0 || !share_evenly(left, hosts, ranks))) {
    refuse(world_size, hosts, world_size - left, per_host);
  }
  return ranks;
}

}  // namespace distrun::nodes

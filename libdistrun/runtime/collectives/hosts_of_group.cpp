#include <distrun/runtime/collectives/hosts_of_group.hpp>

#include <algorithm>
#include <map>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/explain.hpp>
#include <distrun/runtime/core/deaths.hpp>
#include <distrun/runtime/core/hosts.hpp>
#include <distrun/runtime/store/awaited_ranks.hpp>

namespace distrun::collectives {
namespace {

constexpr char kNoHost[] = "an unknown host";  // of processes that are no ranks of the test

// Returns "node01 (ranks 0-1), node02 (ranks 2-3)".
std::string text_of(const GroupInfo& group, const std::vector<std::string>& hosts) {
  std::map<std::string, std::vector<int>> places;
  for (std::size_t i = 0; i < hosts.size(); ++i) places[hosts[i]].push_back(static_cast<int>(i));
  std::string text;
  for (const auto& [host, of_host] : places) {
    text += (text.empty() ? "" : ", ") + host + " (" + ranks_text(group, of_host) + ")";
  }
  return text;
}

}  // namespace

void wait_for_ranks(Store& store, const GroupInfo& group, const std::vector<std::string>& keys,
                    base::TimePoint deadline) {
  const Call start = start_until(deadline);
  const bool are_all = core::are_all_ranks(group.ranks.size());
  try {
    for (std::size_t i = 0; i < keys.size(); ++i) {  // one after the other, so that a wait names who is absent
      const stores::AwaitedRanks awaited({group.ranks[i]}, are_all ? group.ranks : std::vector<int>());
      const base::Nanoseconds left = std::max(deadline - base::system_clock().now(), base::Nanoseconds::zero());
      store.wait({keys[i]}, std::min(left, store.timeout()));
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Timeout) throw;
    std::vector<int> missing;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!store.check({keys[i]})) missing.push_back(static_cast<int>(i));
    }
    throw_timeout(group, start, missing);
  }
}

std::vector<std::string> hosts_of_group(Store& store, const GroupInfo& group, base::TimePoint deadline) {
  const core::Hosts& here = core::hosts();
  if (!here.are_several()) return {};
  std::vector<std::string> keys;
  for (int rank = 0; rank < group.size(); ++rank) keys.push_back("host/" + std::to_string(rank));
  store.set(keys[static_cast<std::size_t>(group.rank)], here.name().empty() ? kNoHost : here.name());
  wait_for_ranks(store, group, keys, deadline);
  std::vector<std::string> hosts = store.multi_get(keys);
  const bool is_one = std::all_of(hosts.begin(), hosts.end(), [&](const auto& host) { return host == hosts.front(); });
  return is_one && hosts.front() != kNoHost ? std::vector<std::string>() : hosts;
}

void refuse_several_hosts(const std::string& what, const std::string& instead, Store& store, const GroupInfo& group,
                          base::TimePoint deadline) {
  const std::vector<std::string> hosts = hosts_of_group(store, group, deadline);
  if (hosts.empty()) return;
  throw Error(ErrorKind::Unimplemented, what + " works within one host, but the ranks of group " + group.name +
                                            " run on several: " + text_of(group, hosts) + "; use " + instead);
}

}  // namespace distrun::collectives

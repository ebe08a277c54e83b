#include <distrun/runtime/rpc/session/detail/membership.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/deaths.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/rpc/session/detail/session_state.hpp>
#include <distrun/runtime/store/awaited_ranks.hpp>

namespace distrun::rpc {
namespace {

constexpr char kMember[] = "member/";
constexpr char kDevices[] = "devices/";
constexpr char kWorldSize[] = "world_size";
constexpr char kMet[] = "met";
constexpr char kAllMet[] = "all met";
constexpr base::Nanoseconds kMoment = std::chrono::milliseconds(50);

std::vector<std::string> keys_of(const char* prefix, int world_size) {
  std::vector<std::string> keys;
  for (int rank = 0; rank < world_size; ++rank) keys.push_back(prefix + std::to_string(rank));
  return keys;
}

std::vector<int> ranks_of(const StaticGroup& group) {
  std::vector<int> ranks(static_cast<std::size_t>(group.world_size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// The first worker writes its world size into the store: "4 for worker2". The others compare theirs.
void agree_on_world_size(const StaticGroup& group, const Member& self, base::Location site) {
  const std::string own = std::to_string(group.world_size);
  const std::string said = group.store->compare_set(kWorldSize, "", own + " for " + self.name, site);
  if (said.starts_with(own + " ")) return;
  throw Error(
      ErrorKind::InvalidArgument, "ValueError",
      "workers of an RPC group do not agree on its world size: it is " + own + " for " + self.name + ", and " + said,
      site);
}

void publish(const StaticGroup& group, const Member& self, base::Location site) {
  const std::string own = to_text(self);
  const std::string key = kMember + std::to_string(self.id);
  const std::string found = group.store->compare_set(key, "", own, site);
  if (found == own) return;
  throw Error(
      ErrorKind::Failed,
      "RPC worker id " + std::to_string(self.id) + " is not unique. It is that of " + member_of(found).name + ", too.",
      site);
}

std::vector<int> missing_in(const StaticGroup& group, base::Location site) {
  std::vector<int> missing;
  for (int rank = 0; rank < group.world_size; ++rank) {
    if (!group.store->check({kMember + std::to_string(rank)}, site)) missing.push_back(rank);
  }
  return missing;
}

// Returns whether all keys are present; false on timeout.
bool wait_for(const StaticGroup& group, const std::vector<std::string>& keys, base::TimePoint deadline,
              base::Location site) {
  try {
    group.store->wait(keys, std::max(deadline - base::system_clock().now(), base::Nanoseconds::zero()), site);
    return true;
  } catch (const Error& why) {
    if (why.kind() != ErrorKind::Timeout) throw;
    return false;
  }
}

// Usually all workers arrive within kMoment. After that, waits for one missing rank at a time, and shows the wait.
void wait_until_all_have_come(const StaticGroup& group, const Member& self, base::Location site) {
  const base::TimePoint begin = base::system_clock().now(), end = begin + group.store->timeout();
  if (wait_for(group, keys_of(kMember, group.world_size), std::min(begin + kMoment, end), site)) return;
  const bool are_all = core::are_all_ranks(static_cast<std::size_t>(group.world_size));
  for (;;) {
    const std::vector<int> missing = missing_in(group, site);
    if (missing.empty()) return;
    // Waits for the first missing rank; the others are recorded as awaited only if the group has all ranks.
    const stores::AwaitedRanks shown({missing.front()}, are_all ? missing : std::vector<int>());
    if (wait_for(group, {kMember + std::to_string(missing.front())}, end, site)) continue;
    throw Error(ErrorKind::Timeout,
                "init_rpc of " + self.name + " has timed out after " + base::human(group.store->timeout()) +
                    ": it waits for " + core::what_they_do(missing_in(group, site)),
                site);
  }
}

std::vector<Member> read_all(const StaticGroup& group, const Member& self, base::Location site) {
  wait_until_all_have_come(group, self, site);
  std::vector<Member> members;
  for (const std::string& text : group.store->multi_get(keys_of(kMember, group.world_size), site)) {
    members.push_back(member_of(text));
  }
  return members;
}

// Counts GPUs only if some member names devices, since counting may start a driver.
void count_devices(const StaticGroup& group, const Member& self, std::vector<Member>& members, base::Location site) {
  const bool has_names =
      std::any_of(members.begin(), members.end(), [](const Member& each) { return each.names_devices(); });
  if (!has_names) return;
  const wire::Bytes own = wire::encode(own_device_site());
  group.store->set(kDevices + std::to_string(self.id), {reinterpret_cast<const char*>(own.data()), own.size()}, site);
  const stores::AwaitedRanks shown(ranks_of(group));
  const std::vector<std::string> sites = group.store->multi_get(keys_of(kDevices, group.world_size), site);
  for (std::size_t i = 0; i < members.size(); ++i) {
    members[i].site = wire::decode<DeviceSite>(wire::view_of(sites[i].data(), sites[i].size()));
  }
}

void wait_until_all_have_read(const StaticGroup& group, base::Location site) {
  const bool is_last = group.store->add(kMet, 1, site) == group.world_size;
  if (is_last) group.store->set(kAllMet, "", site);
  const stores::AwaitedRanks shown(ranks_of(group));
  if (group.serves) group.store->wait({kAllMet}, {}, site);
}

// Members of an elastic group call this to join. Returns false if this worker is about to leave.
bool let_join(const std::string& text) {
  const std::shared_ptr<Session> session = session_state().find();
  if (session == nullptr || session->calls != find_calls()) return false;  // the call arrived in an earlier session
  const Member member = member_of(text);
  if (session->elastic == nullptr) throw Error(ErrorKind::Failed, "nobody joins an RPC group of a fixed size");
  session->elastic->add(*session->calls, member);
  session->meetings.find_again(worker_of(member));
  return true;
}

[[maybe_unused]] const bool is_registered = register_function("distrun.join", {"member"}, &let_join);

}  // namespace

// Rank 0 also removes the shared keys.
void forget_meeting(Store& store, WorkerId self, base::Location site) {
  for (const char* const each : {kMember, kDevices}) store.delete_key(each + std::to_string(self), site);
  if (self != 0) return;
  for (const char* const each : {kWorldSize, kMet, kAllMet}) store.delete_key(each, site);
}

std::vector<Member> meet_all(const StaticGroup& group, Member self, base::Location site) {
  agree_on_world_size(group, self, site);
  publish(group, self, site);
  std::vector<Member> members = read_all(group, self, site);
  count_devices(group, self, members, site);
  wait_until_all_have_read(group, site);
  check_names(members);
  check_device_maps(members, true);
  return members;
}

}  // namespace distrun::rpc

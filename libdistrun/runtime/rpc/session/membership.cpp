#include <distrun/runtime/rpc/session/detail/membership.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rank_list.hpp>
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
constexpr char kGivenUp[] = "given up by ";  // the mark in place of a member; no member's bytes begin with it
constexpr base::Nanoseconds kMoment = std::chrono::milliseconds(50);
constexpr base::Nanoseconds kMarkPatience = std::chrono::seconds(1);

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

std::string key_of(WorkerId id) { return kMember + std::to_string(id); }

bool is_mark(const std::string& text) { return text.starts_with(kGivenUp); }

// Returns the mark in the worker's place; empty: the round is not given up, as far as this key tells.
std::string mark_for(const StaticGroup& group, const Member& self, base::Location site) {
  if (!group.store->check({key_of(self.id)}, site)) return "";
  const std::string found = group.store->get(key_of(self.id), site);
  return is_mark(found) ? found : "";
}

// The first worker writes its world size into the store: "4 for worker2". The others compare theirs. Returns the mark
// if that size is of a round that was given up.
std::string agree_on_world_size(const StaticGroup& group, const Member& self, base::Location site) {
  const std::string own = std::to_string(group.world_size);
  const std::string said = group.store->compare_set(kWorldSize, "", own + " for " + self.name, site);
  if (said.starts_with(own + " ")) return "";
  if (std::string mark = mark_for(group, self, site); !mark.empty()) return mark;
  throw Error(
      ErrorKind::InvalidArgument, "ValueError",
      "workers of an RPC group do not agree on its world size: it is " + own + " for " + self.name + ", and " + said,
      site);
}

// Marks the places of absent workers, also with the ranks that this one has waited for: workers that find the mark
// blame them, and not the worker that has given up. Returns whether the round has ended. If not, no worker is absent.
bool give_up(const StaticGroup& group, const Member& self, const std::vector<int>& awaited, base::Location site) {
  const std::string why = awaited.empty() ? "" : ", which waited for " + base::ranks_label(awaited);
  bool is_ended = false;
  for (WorkerId id = 0; id < group.world_size; ++id) {
    is_ended |= is_mark(group.store->compare_set(key_of(id), "", kGivenUp + self.name + why, site));
  }
  return is_ended;
}

// Called after an error, so it reports none. If the store fails as well, the others wait until their timeout.
void try_to_give_up(const StaticGroup& group, const Member& self, base::Location site) noexcept {
  try {
    group.store->set_timeout(std::min(group.store->timeout(), kMarkPatience));
    give_up(group, self, {}, site);
  } catch (const std::exception&) {
    return;
  }
}

// Returns the mark in the worker's place; empty: none.
std::string publish(const StaticGroup& group, const Member& self, base::Location site) {
  const std::string own = to_text(self);
  if (group.enter) group.enter();
  std::string found;
  try {
    found = group.store->compare_set(key_of(self.id), "", own, site);
  } catch (...) {
    try_to_give_up(group, self, site);  // it may have been written
    throw;
  }
  if (found == own) return "";
  if (is_mark(found)) return found;
  throw Error(
      ErrorKind::Failed,
      "RPC worker id " + std::to_string(self.id) + " is not unique. It is that of " + member_of(found).name + ", too.",
      site);
}

std::vector<int> missing_in(const StaticGroup& group, base::Location site) {
  std::vector<int> missing;
  for (int rank = 0; rank < group.world_size; ++rank) {
    if (!group.store->check({key_of(rank)}, site)) missing.push_back(rank);
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
// Gives up at the deadline.
void wait_until_all_have_come(const StaticGroup& group, const Member& self, base::Location site) {
  const base::TimePoint begin = base::system_clock().now();
  const base::TimePoint end = std::min(base::deadline_after(group.store->timeout()), group.deadline);
  if (wait_for(group, keys_of(kMember, group.world_size), std::min(begin + kMoment, end), site)) return;
  const bool are_all = core::are_all_ranks(static_cast<std::size_t>(group.world_size));
  for (;;) {
    const std::vector<int> missing = missing_in(group, site);
    if (missing.empty()) return;
    // Waits for the first missing rank; the others are recorded as awaited only if the group has all ranks.
    const stores::AwaitedRanks shown({missing.front()}, are_all ? missing : std::vector<int>());
    if (wait_for(group, {key_of(missing.front())}, end, site)) continue;
    const std::vector<int> late = missing_in(group, site);
    if (late.empty()) return;  // the last one has come at the deadline
    const std::string awaited = core::what_they_do(late);
    if (!give_up(group, self, late, site)) return;  // the last one has just come
    throw Error(ErrorKind::Timeout,
                "init_rpc of " + self.name + " has timed out after " + base::human(group.store->timeout()) +
                    ": it waits for " + awaited +
                    (group.given_up.empty() ? "" : "; an earlier attempt was " + group.given_up),
                site);
  }
}

Met read_all(const StaticGroup& group, const Member& self, base::Location site) {
  std::vector<std::string> texts;
  try {
    wait_until_all_have_come(group, self, site);
    texts = group.store->multi_get(keys_of(kMember, group.world_size), site);
  } catch (...) {
    try_to_give_up(group, self, site);
    throw;
  }
  Met met;
  for (const std::string& text : texts) {
    if (is_mark(text)) return {{}, text};
    met.members.push_back(member_of(text));
  }
  return met;
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
  if (session->elastic == nullptr) throw Error(ErrorKind::Failed, "workers can't join an RPC group of a fixed size");
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

Met meet_all(const StaticGroup& group, Member self, base::Location site) {
  if (std::string mark = agree_on_world_size(group, self, site); !mark.empty()) return {{}, std::move(mark)};
  if (std::string mark = publish(group, self, site); !mark.empty()) return {{}, std::move(mark)};
  Met met = read_all(group, self, site);
  if (!met.given_up.empty()) return met;
  count_devices(group, self, met.members, site);
  wait_until_all_have_read(group, site);
  check_names(met.members);
  check_device_maps(met.members, true);
  return met;
}

}  // namespace distrun::rpc

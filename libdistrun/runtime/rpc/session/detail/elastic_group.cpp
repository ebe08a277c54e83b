#include <distrun/runtime/rpc/session/detail/elastic_group.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/core/deaths.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/rpc/calls/callee.hpp>
#include <distrun/runtime/rpc/session/detail/control.hpp>
#include <distrun/runtime/rpc/successor.hpp>

namespace distrun::rpc {
namespace {

using namespace std::chrono_literals;

constexpr char kJoin[] = "distrun.join";
constexpr base::Nanoseconds kFarewell = 1s;       // for members to confirm that it leaves
constexpr base::Nanoseconds kReachPatience = 1s;  // with members that can't be reached and are in the log
constexpr base::Nanoseconds kFirstRest = 100us;
constexpr base::Nanoseconds kLastRest = 5ms;

std::string text_of(const Member& member) {
  return std::to_string(member.id) + "." + std::to_string(member.incarnation);
}

// Where a member that leaves finds which others have removed it, since its agent may close too early for their answers:
// "2.1 0.1 3.5 ", itself and the others. There is one key for each id, which the next worker with the id overwrites: a
// member that confirms late, and one that dies while it waits, leave nothing more behind.
std::string farewell_key(const Member& left) { return "farewell/" + std::to_string(left.id); }
std::string farewell_token(const Member& member) { return text_of(member) + " "; }

bool has_confirmed(const std::string& farewell, const Member& other) {
  return farewell.find(" " + farewell_token(other)) != std::string::npos;
}

// Does nothing if `left` has a successor that has left as well.
void confirm(Store& store, const Member& left, const Member& self) {
  std::string before = farewell_token(left);
  for (;;) {
    const std::string after = before + farewell_token(self);
    const std::string found = store.compare_set(farewell_key(left), before, after);
    const bool is_missing = found == before;
    if (found == after || is_missing || !found.starts_with(farewell_token(left))) return;
    before = found;
  }
}

CallRequest request_of(const Member& to, const char* function, const Member& member, base::TimePoint deadline,
                       base::Location site) {
  const base::Nanoseconds left = std::max<base::Nanoseconds>(deadline - base::system_clock().now(), 1ms);
  CallRequest request{Destination(worker_of(to), site).within(left), target_of(function), {}};
  request.arguments.positional = {to_value(to_text(member))};
  return request;
}

[[noreturn]] void refuse_untold(const Member& member, const Error& why) {
  throw Error(why.kind(), why.type(),
              "joining the RPC group: " + describe(member) + " does not take note: " + why.what() + "; it is " +
                  core::what_they_do({member.id}),
              why.where());
}

}  // namespace

void ElasticGroup::enter(Agent& agent) {
  log_.add(self_);
  try {
    evict_namesakes(agent);
    for (const Member& each : log_.members()) {
      if (is_same_member(each, self_)) break;
      before_.push_back(each);
    }
    check_unique(before_);
    std::vector<Member> checked = before_;
    checked.push_back(self_);
    check_device_maps(checked, false);
    std::erase_if(before_, [&](const Member& each) { return !is_made_known(agent, each); });
  } catch (...) {
    leave_silently();
    throw;
  }
}

// Workers that died are still in the log.
void ElasticGroup::evict_namesakes(Agent& agent) {
  for (const Member& each : log_.members()) {
    if (is_same_member(each, self_)) return;
    if (each.id == self_.id || each.name == self_.name) evict_if_gone(agent, each);
  }
}

bool ElasticGroup::evict_if_gone(Agent& agent, const Member& member) {
  if (!agent.is_gone(record_of(member))) return false;
  log_.remove(member);
  return true;
}

// Returns false if the member has left meanwhile: its successor may be known to the agent already.
bool ElasticGroup::is_made_known(Agent& agent, const Member& member) {
  try {
    make_known(agent, member);
    return true;
  } catch (const Error&) {
    if (log_.contains(member)) throw;
    return false;
  }
}

void ElasticGroup::check_unique(const std::vector<Member>& before) const {
  for (const Member& each : before) {
    if (each.id == self_.id) {
      throw Error(ErrorKind::Failed,
                  "RPC worker id " + std::to_string(self_.id) + " is not unique. It is that of " + each.name + ".");
    }
    if (each.name == self_.name) check_names({each, self_});
  }
}

std::vector<Member> ElasticGroup::members_of(const std::vector<Untold>& untold) {
  std::vector<Member> members;
  for (const Untold& each : untold) members.push_back(each.member);
  return members;
}

std::vector<Member> ElasticGroup::tell_others(Calls& calls, base::TimePoint deadline, base::Location site) {
  std::vector<Untold> untold = tell(calls, before_, deadline, site);
  if (untold.empty()) return {};
  std::vector<Member> again = members_of(untold);
  core::PollingWait wait({board::WaitKind::Barrier, "rpc join", board::PeerRule::None, {}, 0, site},
                         std::min(deadline, base::system_clock().now() + kReachPatience));
  base::Nanoseconds rest = kFirstRest;
  while (!untold.empty()) {
    const core::WaitEnd end = wait.rest(rest);
    if (end == core::WaitEnd::PeerFailed) core::throw_peer_failed("joining the RPC group", site);
    if (end == core::WaitEnd::Timeout) refuse_untold(untold.front().member, untold.front().why);
    rest = std::min(2 * rest, kLastRest);
    const std::vector<Member> members = members_of(untold);
    for (const Member& each : members) reach_again(calls, each);
    untold = tell(calls, members, deadline, site);
  }
  std::erase_if(again, [&](const Member& each) { return !find_known({each.id, each.incarnation}); });
  return again;
}

// Returns the members that may be tried again.
std::vector<ElasticGroup::Untold> ElasticGroup::tell(Calls& calls, const std::vector<Member>& members,
                                                     base::TimePoint deadline, base::Location site) {
  std::vector<Untold> untold;
  std::vector<std::pair<const Member*, future::Future<Value>>> told;
  for (const Member& each : members) {
    try {
      told.emplace_back(&each, calls.sender().call(request_of(each, kJoin, self_, deadline, site)));
    } catch (Error& why) {
      if (may_try_again(calls, each, why)) untold.push_back({each, why});
    }
  }
  for (const auto& [member, call] : told) {
    try {
      const bool is_staying = from_value<bool>(call.wait({}, site));
      if (!is_staying) remove(calls, *member);
    } catch (const base::PeerFailed&) {
      throw;
    } catch (Error& why) {
      if (may_try_again(calls, *member, why)) untold.push_back({*member, why});
    }
  }
  return untold;
}

// Returns false for a member that is gone. Throws `why` for one that is there. If that cannot be found out, the
// shortage takes the place of `why`.
bool ElasticGroup::may_try_again(Calls& calls, const Member& member, Error& why) {
  bool is_over = !log_.contains(member);
  const bool is_unreachable = why.kind() == ErrorKind::Disconnected;
  if (!is_over && is_unreachable) {
    try {
      is_over = evict_if_gone(calls.agent(), member);
    } catch (const Error& shortage) {
      if (shortage.kind() != ErrorKind::Overloaded) throw;
      why = shortage;
      return true;
    }
  }
  if (is_over) return remove(calls, member), false;
  if (is_unreachable) return true;
  refuse_untold(member, why);
}

// A lost connection is not reopened: the agent adds the worker again. If the member has left meanwhile, the agent may
// know its successor already, before this group does.
void ElasticGroup::reach_again(Calls& calls, const Member& member) {
  const std::lock_guard changing(changing_);
  if (!find_known({member.id, member.incarnation})) return;  // another has its id by now
  try {
    calls.agent().add_worker(record_of(member));
  } catch (const Error&) {
    if (log_.contains(member)) throw;
    return;
  }
  if (calls.references() != nullptr) calls.references()->meet(worker_of(member));
}

void ElasticGroup::leave(Calls& calls) noexcept {
  try {
    log_.remove(self_);
    store_->set(farewell_key(self_), farewell_token(self_));
    Control message;
    message.kind = ControlKind::Leave;
    message.text = to_text(self_);
    std::vector<Member> told = log_.members();
    std::erase_if(told, [&](const Member& each) {
      try {
        add(calls, each);
        calls.send(worker_of(each).key(), MessageKind::Control, wire::encode(message), Urgency::Later);
        return false;
      } catch (const Error&) {
        return true;  // it is gone
      }
    });
    wait_for_farewells(std::move(told));
  } catch (const std::exception&) {
    return;  // the store is gone: the members notice when they call this worker
  }
}

// Waits until the members have removed this worker, so that a successor is added at once. Members that leave at the
// same time do not confirm. If a successor has left meanwhile, the members had removed this worker before.
void ElasticGroup::wait_for_farewells(std::vector<Member> told) {
  const board::WaitInfo info{board::WaitKind::Barrier, "rpc leave", board::PeerRule::None, {}, 0, {}};
  core::poll_for_peers(info, base::system_clock().now() + kFarewell, kLastRest, [&] {
    const std::vector<Member> there = log_.members();
    const std::string farewell = store_->get(farewell_key(self_));
    if (!farewell.starts_with(farewell_token(self_))) return true;
    std::erase_if(told, [&](const Member& each) {
      const bool is_there =
          std::any_of(there.begin(), there.end(), [&](const Member& other) { return is_same_member(other, each); });
      return !is_there || has_confirmed(farewell, each);
    });
    return told.empty();
  });
}

void ElasticGroup::leave_silently() noexcept {
  try {
    log_.remove(self_);
  } catch (const std::exception&) {
    return;
  }
}

std::optional<Member> ElasticGroup::find_known(WorkerKey key) {
  const std::lock_guard lock(mutex_);
  return known_.find(key);
}

void ElasticGroup::make_known(Agent& agent, const Member& member) {
  const std::lock_guard lock(mutex_);
  agent.add_worker(record_of(member));
  known_.add(member);
}

void ElasticGroup::introduce_devices(Calls& calls) const {
  calls.devices().set_site(worker_of(self_), self_.site);
  calls.devices().add_devices(devices_of(self_, before_));
  for (const Member& each : before_) calls.devices().set_site(worker_of(each), each.site);
}

void ElasticGroup::introduce_references(Calls& calls) const {
  if (calls.references() == nullptr) return;
  for (const Member& each : before_) calls.references()->meet(worker_of(each));
}

// The member may have died before it was known here: its loss was reported, and nothing was removed.
void ElasticGroup::add(Calls& calls, const Member& member) {
  add_now(calls, member);
  calls.agent().look_after(worker_of(member).key());  // not with changing_ held: a loss is removed with it
}

void ElasticGroup::add_now(Calls& calls, const Member& member) {
  const std::lock_guard changing(changing_);
  const WorkerInfo worker = worker_of(member);
  if (!is_half_added(worker.key())) {
    std::vector<Member> predecessors;
    {
      const std::lock_guard lock(mutex_);
      if (known_.has(member)) return;
      predecessors = known_.predecessors_of(member);
    }
    for (const Member& each : predecessors) {
      remove_now(calls, each, replaced_error(worker_of(each)), false);
    }
    half_added_.reserve(half_added_.size() + 1);
    make_known(calls.agent(), member);
    half_added_.push_back(worker.key());
  }
  calls.devices().set_site(worker, member.site);
  calls.devices().add_devices(devices_of(self_, {member}));
  calls.workers().refresh();
  if (calls.references() != nullptr) calls.references()->meet(worker);
  std::erase(half_added_, worker.key());
}

bool ElasticGroup::is_half_added(WorkerKey key) const {
  return std::find(half_added_.begin(), half_added_.end(), key) != half_added_.end();
}

void ElasticGroup::remove(Calls& calls, const Member& member) {
  const std::lock_guard changing(changing_);
  remove_now(calls, member, Error(ErrorKind::Disconnected, member.name + " has left"), false);
}

void ElasticGroup::remove_now(Calls& calls, const Member& member, const Error& why, bool has_died) {
  const WorkerInfo worker = worker_of(member);
  {
    const std::lock_guard lock(mutex_);
    if (!known_.remove(worker.key())) return;
    calls.agent().remove_worker(worker.key());
  }
  std::erase(half_added_, worker.key());
  // Without memory the list names it until the next change; the agent refuses calls to it.
  base::if_memory([&] {
    if (has_died) calls.workers().note_death(worker, why);
    calls.workers().refresh();
  });
  calls.lose(worker, why);
}

void ElasticGroup::remove_if_gone(Calls& calls, const WorkerInfo& peer, const Error& why) noexcept {
  try {
    // One that is being removed is unknown already. Its removal may be what tells the loss, on this thread.
    if (!find_known(peer.key())) return;
    const std::lock_guard changing(changing_);
    const std::optional<Member> known = find_known(peer.key());
    if (known && calls.agent().is_gone(record_of(*known))) remove_now(calls, *known, why, true);
  } catch (const std::exception&) {
    return;  // no memory or descriptors: it stays on the list, and calls to it fail as they do now
  }
}

void ElasticGroup::take_leave(Calls& calls, const Member& member) {
  remove(calls, member);
  confirm(*store_, member, self_);
}

}  // namespace distrun::rpc

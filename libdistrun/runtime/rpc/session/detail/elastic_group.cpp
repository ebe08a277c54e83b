#include <distrun/runtime/rpc/session/detail/elastic_group.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/rpc/session/detail/control.hpp>
#include <distrun/runtime/rpc/session/detail/missing.hpp>

namespace distrun::rpc {
namespace {

using namespace std::chrono_literals;

constexpr char kLog[] = "log";
constexpr char kJoin[] = "distrun.join";
constexpr base::Nanoseconds kFarewell = 1s;       // for those who are told that it leaves
constexpr base::Nanoseconds kReachPatience = 1s;  // with those who can't be reached, and have not said that they leave
constexpr base::Nanoseconds kFirstRest = 100us;
constexpr base::Nanoseconds kLastRest = 5ms;

// Set by `other` when it has removed that one: an answer could not reach it any more.
std::string farewell_key(const Member& left, WorkerId other) {
  return "farewell/" + left.address + "/" + std::to_string(other);
}

struct Entry {
  bool joins = false;
  Member member;
};
DISTRUN_FIELDS(Entry, m.joins, m.member)

// In the log, each with its length in front.
std::string to_text(const Entry& entry) {
  const wire::Bytes bytes = wire::encode(entry);
  wire::ByteWriter writer;
  writer.string({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return {reinterpret_cast<const char*>(writer.bytes().data()), writer.bytes().size()};
}

std::vector<Entry> entries_of(const std::string& log) {
  wire::ByteReader reader(wire::view_of(log.data(), log.size()));
  std::vector<Entry> entries;
  while (reader.remaining() > 0) {
    const std::string text = reader.string();
    entries.push_back(wire::decode<Entry>(wire::view_of(text.data(), text.size())));
  }
  return entries;
}

// Who has joined and not left, in the order in which they have joined.
std::vector<Member> present_in(const std::vector<Entry>& log) {
  std::vector<Member> present;
  for (const auto& [joins, member] : log) {
    if (joins) {
      present.push_back(member);
    } else {
      std::erase_if(present, [&, &left = member](const Member& each) { return each.address == left.address; });
    }
  }
  return present;
}

// Before that one.
std::uint64_t earlier_in(const std::vector<Entry>& log, const Member& self) {
  std::uint64_t count = 0;
  for (const auto& [joins, member] : log) {
    if (joins && member.address == self.address) break;
    count += joins && member.id == self.id ? 1 : 0;
  }
  return count;
}

CallRequest request_of(const Member& to, const char* function, const Member& member, base::TimePoint deadline,
                       base::Location site) {
  const base::Nanoseconds left = std::max<base::Nanoseconds>(deadline - base::system_clock().now(), 1ms);
  CallRequest request{Destination(WorkerInfo(to.name, to.id), site).within(left), target_of(function), {}};
  request.arguments.positional = {to_value(to_text(member))};
  return request;
}

}  // namespace

void ElasticGroup::append(bool joins) { store_->append(kLog, to_text(Entry{joins, self_})); }
std::vector<Member> ElasticGroup::present() { return present_in(entries_of(store_->get(kLog))); }

void ElasticGroup::enter(Agent& agent) {
  append(true);
  try {
    const std::vector<Entry> log = entries_of(store_->get(kLog));
    earlier_ = earlier_in(log, self_);
    for (const Member& each : present_in(log)) {
      if (each.address == self_.address) break;
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

// False: it has left meanwhile; another one may have come under its id, and have told the agent so.
bool ElasticGroup::is_made_known(Agent& agent, const Member& member) {
  try {
    make_known(agent, member);
    return true;
  } catch (const Error&) {
    if (!has_left(member)) throw;
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

std::vector<std::string> ElasticGroup::tell_others(Calls& calls, base::TimePoint deadline, base::Location site) {
  std::vector<Member> untold = tell(calls, before_, deadline, site);
  if (untold.empty()) return {};
  std::vector<std::string> again;
  for (const Member& each : untold) again.push_back(each.name);
  core::PollingWait wait({board::WaitKind::Barrier, "rpc join", board::PeerRule::None, {}, 0, site},
                         std::min(deadline, base::system_clock().now() + kReachPatience));
  base::Nanoseconds rest = kFirstRest;
  while (!untold.empty()) {
    const core::WaitEnd end = wait.rest(rest);
    if (end == core::WaitEnd::PeerFailed) core::throw_peer_failed("joining the RPC group", site);
    if (end == core::WaitEnd::Timeout) break;
    rest = std::min(2 * rest, kLastRest);
    for (const Member& each : untold) reach_again(calls, each);
    untold = tell(calls, untold, deadline, site);
  }
  for (const Member& each : untold) remove(calls, each), std::erase(again, each.name);
  return again;
}

// Those that may be tried again.
std::vector<Member> ElasticGroup::tell(Calls& calls, const std::vector<Member>& members, base::TimePoint deadline,
                                       base::Location site) {
  std::vector<Member> untold;
  std::vector<std::pair<const Member*, future::Future<Value>>> told;
  for (const Member& each : members) {
    try {
      told.emplace_back(&each, calls.call(request_of(each, kJoin, self_, deadline, site)));
    } catch (const Error& why) {
      if (may_try_again(calls, each, why)) untold.push_back(each);
    }
  }
  for (const auto& [member, call] : told) {
    try {
      const bool is_staying = from_value<bool>(call.wait({}, site));
      if (!is_staying) remove(calls, *member);
    } catch (const base::PeerFailed&) {
      throw;
    } catch (const Error& why) {
      if (may_try_again(calls, *member, why)) untold.push_back(*member);
    }
  }
  return untold;
}

bool ElasticGroup::has_left(const Member& member) {
  const std::vector<Member> all = present();
  return std::none_of(all.begin(), all.end(), [&](const Member& each) { return each.address == member.address; });
}

// One that can't be reached is no hindrance if it is gone; false then. Throws for one that is there.
bool ElasticGroup::may_try_again(Calls& calls, const Member& member, const Error& why) {
  if (has_left(member)) return remove(calls, member), false;
  if (why.kind() == ErrorKind::Disconnected) return true;
  throw Error(why.kind(), why.type(),
              "joining the RPC group: " + describe(member) + " does not take note: " + why.what() + "; it is " +
                  what_they_do({member.id}),
              why.where());
}

// A line that was lost is not taken up again: the agent gets to know the worker anew.
void ElasticGroup::reach_again(Calls& calls, const Member& member) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(member.id);
  if (found == known_.end() || found->second != member.address) return;  // another has its id by now
  calls.agent().add_worker(record_of(member));
  if (calls.references() != nullptr) calls.references()->meet(member.id);
}

void ElasticGroup::leave(Calls& calls) noexcept {
  try {
    append(false);
    Control message;
    message.kind = ControlKind::Leave;
    message.text = to_text(self_);
    std::vector<Member> told = present();
    std::erase_if(told, [&](const Member& each) {
      try {
        add(calls, each);
        calls.send_control(each.id, wire::encode(message));
        return false;
      } catch (const Error&) {
        return true;  // it is gone
      }
    });
    wait_for_farewells(std::move(told));
  } catch (const std::exception&) {
    return;  // the store is gone: then whoever still is there finds out when it calls
  }
}

// So that one who comes again under its id is not taken for this one. Those who leave at the same time do not answer.
void ElasticGroup::wait_for_farewells(std::vector<Member> told) {
  core::PollingWait wait({board::WaitKind::Barrier, "rpc leave", board::PeerRule::None, {}, 0, {}},
                         base::system_clock().now() + kFarewell);
  base::Nanoseconds rest = kFirstRest;
  for (;;) {
    const std::vector<Member> there = present();
    std::erase_if(told, [&](const Member& each) {
      const bool has_left =
          std::none_of(there.begin(), there.end(), [&](const Member& other) { return other.address == each.address; });
      return has_left || store_->check({farewell_key(self_, each.id)});
    });
    if (told.empty() || wait.rest(rest) != core::WaitEnd::Ready) return;
    rest = std::min(2 * rest, kLastRest);
  }
}

void ElasticGroup::leave_silently() noexcept {
  try {
    append(false);
  } catch (const std::exception&) {
    return;
  }
}

bool ElasticGroup::make_known(Agent& agent, const Member& member) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(member.id);
  if (found != known_.end() && found->second == member.address) return false;
  agent.add_worker(record_of(member));
  known_[member.id] = member.address;
  return true;
}

void ElasticGroup::introduce_devices(Calls& calls) const {
  calls.devices().set_site(WorkerInfo(self_.name, self_.id), self_.site);
  calls.devices().add_devices(devices_of(self_, before_));
  for (const Member& each : before_) calls.devices().set_site(WorkerInfo(each.name, each.id), each.site);
}

void ElasticGroup::add(Calls& calls, const Member& member) {
  const std::lock_guard changing(changing_);
  if (!make_known(calls.agent(), member)) return;
  calls.devices().set_site(WorkerInfo(member.name, member.id), member.site);
  calls.devices().add_devices(devices_of(self_, {member}));
  calls.refresh_workers();
  if (calls.references() != nullptr) calls.references()->meet(member.id);
}

void ElasticGroup::remove(Calls& calls, const Member& member) {
  const std::lock_guard changing(changing_);
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(member.id);
    if (found == known_.end() || found->second != member.address) return;
    calls.agent().remove_worker(member.id);
    known_.erase(found);
  }
  calls.refresh_workers();
  calls.lose(WorkerInfo(member.name, member.id), Error(ErrorKind::Disconnected, member.name + " has left"));
}

void ElasticGroup::take_leave(Calls& calls, const Member& member) {
  remove(calls, member);
  store_->set(farewell_key(member, self_.id), "");
}

}  // namespace distrun::rpc

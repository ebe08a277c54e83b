#include <distrun/runtime/rpc/session/detail/meetings.hpp>

#include <algorithm>
#include <new>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/rpc/calls/error_codec.hpp>
#include <distrun/runtime/rpc/session/detail/control.hpp>
#include <distrun/runtime/rpc/session/detail/meeting_keys.hpp>
#include <distrun/runtime/rpc/session/detail/told.hpp>

namespace distrun::rpc {
namespace {

constexpr base::Nanoseconds kTellPatience = std::chrono::milliseconds(500);
// Before the leader connects to absent followers: most arrive within it, and connect by themselves.
constexpr base::Nanoseconds kUnmet = std::chrono::milliseconds(50);
constexpr char kGather[] = "distrun.gather";
constexpr char kGathered[] = "distrun.gathered";

base::TimePoint now() { return base::system_clock().now(); }

// Returns the timeout of a call within a meeting: the time left to the meeting's deadline, else bounds.call.
std::optional<base::Nanoseconds> limit_of(const MeetingBounds& bounds) {
  if (bounds.deadline == core::kForever) return bounds.call;
  return std::max<base::Nanoseconds>(bounds.deadline - now(), std::chrono::milliseconds(1));
}

CallRequest request_of(const WorkerInfo& to, const char* function, ValueList arguments, const MeetingBounds& bounds,
                       base::Location site) {
  Destination destination(to, site);
  if (const auto limit = limit_of(bounds)) destination = destination.within(*limit);
  CallRequest request{std::move(destination), target_of(function), {}};
  request.arguments.positional = std::move(arguments);
  request.runs_late = true;
  return request;
}

}  // namespace

MeetingBounds bounds_of(double seconds) {
  if (!(seconds > 0)) return {};
  const base::Nanoseconds limit = base::nanoseconds_of(seconds);
  return {limit, base::deadline_after(limit)};
}

// A round that the rank has entered.
class Meetings::Entered {
 public:
  Entered(Meetings& all, const Calls& calls, const std::set<std::string>& names_, base::Location site_)
      : names(names_),
        workers(keys_of(calls, names_, site_)),
        self(calls.self().name()),
        key(key_of(workers)),
        site(site_),
        all_(all) {
    const auto made = std::make_shared<Round>();
    const std::lock_guard lock(all_.mutex_);
    Group& group = all_.groups_[key];
    const auto [found, is_new] = group.rounds.try_emplace(group.entered, made);
    if (is_new) ++all_.rounds_;
    round = found->second;
    number = group.entered++;  // last: a round counts if nothing has failed
  }
  ~Entered() {
    const std::lock_guard lock(all_.mutex_);
    all_.rounds_ -= all_.groups_.find(key)->second.rounds.erase(number);
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

  const std::string& leader() const noexcept { return *names.begin(); }
  WorkerInfo worker(const std::string& name) const { return {name, workers.at(name)}; }
  bool is_over() const {
    const std::lock_guard lock(all_.mutex_);
    return round->is_over;
  }
  std::string text() const { return "_all_gather number " + std::to_string(number) + " of " + key; }

  const std::set<std::string>& names;
  const WorkerKeys workers;  // at the time of entering
  const std::string self;
  const std::string key;
  const base::Location site;
  std::uint64_t number = 0;
  std::shared_ptr<Round> round;

 private:
  Meetings& all_;
};

Gathered Meetings::meet(Calls& calls, const Value& object, const std::set<std::string>& names,
                        const MeetingBounds& bounds, base::Location site) {
  const Entered round(*this, calls, names, site);
  try {
    return round.leader() == round.self ? lead(calls, object, round, bounds) : follow(calls, object, round, bounds);
  } catch (const std::bad_alloc&) {
    throw base::out_of_memory(ErrorKind::Failed);  // the round counts
  }
}

namespace {

board::WaitInfo wait_info(const std::set<WorkerId>& awaited, std::uint64_t number, base::Location site) {
  board::WaitInfo info;
  info.kind = board::WaitKind::Barrier;
  info.name = "rpc all_gather";
  info.rule = awaited.empty() ? board::PeerRule::None : board::PeerRule::All;
  for (const WorkerId id : awaited) info.peers.add(id);
  info.id = number;
  info.site = site;
  return info;
}
template <class Round>
board::WaitInfo wait_info(const Round& round, const std::set<std::string>& awaited) {
  std::set<WorkerId> ids;
  for (const std::string& name : awaited) ids.insert(round.workers.at(name).id);
  return wait_info(ids, round.number, round.site);
}

}  // namespace

const Meetings::Lost* Meetings::find_lost(const Entered& round, const std::string& name) const {
  const auto found = lost_.find(name);
  return found != lost_.end() && round.workers.at(name).incarnation <= found->second.incarnation ? &found->second
                                                                                                 : nullptr;
}

bool Meetings::is_hopeless(const Entered& round, const std::set<std::string>& awaited) const {
  return closed_ != nullptr ||
         std::any_of(awaited.begin(), awaited.end(), [&](const auto& name) { return find_lost(round, name); });
}

// Throws the reason why a wait has failed, if there is one.
void Meetings::check(const Entered& round, const std::set<std::string>& awaited, core::WaitEnd end) const {
  if (closed_ != nullptr) throw Error(ErrorKind::Failed, round.text() + ": " + closed_, round.site);
  if (end == core::WaitEnd::PeerFailed) core::throw_peer_failed(round.text(), round.site);
  for (const std::string& name : awaited) {
    const Lost* const lost = find_lost(round, name);
    if (lost == nullptr) continue;
    throw Error(ErrorKind::Disconnected, round.text() + ": " + name + " will not come: " + lost->why.what(), round.site)
        .with_cause(lost->why.because_of());
  }
}

// Only workers that are connected to a worker notice its loss, so this connects to them.
void Meetings::look_after(Calls& calls, const Entered& round, const std::set<std::string>& names,
                          std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  for (const std::string& name : names) calls.agent().look_after(round.workers.at(name));
  lock.lock();
}

Gathered Meetings::wait_for_all(Calls& calls, const Entered& round, const MeetingBounds& bounds) {
  Gathered& gathered = round.round->gathered;
  const base::TimePoint unmet = std::min(now() + kUnmet, bounds.deadline);
  bool has_looked = false;
  std::unique_lock lock(mutex_);
  for (;;) {
    std::set<std::string> missing;
    for (const std::string& name : round.names) {
      if (!gathered.contains(name)) missing.insert(name);
    }
    if (const Failure& failure = round.round->failure; !failure.empty()) {
      throw Error(ErrorKind::Failed, round.text() + ": " + failure.text, round.site).with_cause(failure.because_of);
    }
    if (missing.empty()) return std::move(gathered);
    const std::size_t seen = gathered.size();
    const auto info = wait_info(round, missing);
    const core::WaitEnd end = core::wait_for_peers(info, lock, changed_, has_looked ? bounds.deadline : unmet, [&] {
      return gathered.size() != seen || !round.round->failure.empty() || is_hopeless(round, missing);
    });
    if (gathered.size() != seen || !round.round->failure.empty()) continue;
    check(round, missing, end);
    if (!std::exchange(has_looked, true)) {
      look_after(calls, round, missing, lock);
      continue;
    }
    throw Error(ErrorKind::Timeout,
                "Followers [" + join(missing) + "] timed out in _all_gather after " +
                    number_text("%.2f", in_seconds(bounds.call.value_or(calls.sender().timeout()))) +
                    " seconds. The first exception is that " + *missing.begin() + " has not come",
                round.site);
  }
}

namespace {

ValueList outcome(const std::string& key, std::uint64_t number, const Meetings::Failure& failure,
                  const Packed& packed) {
  const std::string bytes(reinterpret_cast<const char*>(packed.bytes.data()), packed.bytes.size());
  return {to_value(key),   to_value(number),         to_value(failure.text),
          to_value(bytes), to_value(packed.tensors), to_value(failure.because_of)};
}

// Called if this worker cannot report its failure: the peer learns of it by losing the worker.
void end_connection(Calls& calls, const WorkerKey& peer, const char* what) noexcept {
  calls.agent().give_up(peer, base::if_memory([&] { return Error(ErrorKind::Disconnected, what); },
                                              [] { return base::out_of_memory(ErrorKind::Disconnected); }));
}

}  // namespace

std::vector<Told> Meetings::tell(Calls& calls, const Entered& round, const Packed& packed,
                                 const MeetingBounds& bounds) {
  const ValueList arguments = outcome(round.key, round.number, {}, packed);
  std::vector<Told> all;
  all.reserve(round.names.size());
  for (const std::string& name : round.names) {
    if (name == round.self) continue;
    Told told;
    told.name = name;
    try {
      told.call = calls.sender().call(request_of(round.worker(name), kGathered, arguments, bounds, round.site));
    } catch (...) {
      told.fail(error_of(std::current_exception()));
    }
    all.push_back(std::move(told));
  }
  return all;
}

// A follower that has left the round, or has its map, refuses it or takes no notice.
void Meetings::tell_failure(Calls& calls, const Entered& round, const std::string& name, const Failure& failure,
                            const MeetingBounds& bounds) noexcept {
  try {
    const ValueList arguments = outcome(round.key, round.number, failure, {});
    calls.sender().call(request_of(round.worker(name), kGathered, arguments, bounds, round.site)).state()->mark_seen();
  } catch (...) {
    if (!is_shortage(error_of(std::current_exception()))) return;  // it is lost, or the session has ended
    end_connection(calls, round.workers.find(name)->second, "the failure of a meeting can't be sent");
  }
}

// Called on the leader. Later contributions get the reason, too.
void Meetings::fail_all(Calls& calls, const Entered& round, const Error& why, const MeetingBounds& bounds) noexcept {
  const Failure failure = Failure::of(why);
  {
    const std::lock_guard lock(mutex_);
    base::if_memory([&] { groups_.find(round.key)->second.failure = failure; });
  }
  // The followers' deadline has passed, too.
  if (bounds.deadline != core::kForever && why.kind() == ErrorKind::Timeout) return;
  for (const std::string& name : round.names) {
    if (name != round.self) tell_failure(calls, round, name, failure, bounds);
  }
}

// Throws base::PeerFailed; other errors are stored in `all`.
void Meetings::wait_for_told(const Entered& round, std::vector<Told>& all) {
  for (Told& each : all) {
    if (!each.call) continue;
    try {
      each.call->wait({}, round.site);
    } catch (const base::PeerFailed&) {
      throw;
    } catch (...) {
      const Error why = error_of(std::current_exception());
      if (why.kind() == ErrorKind::Disconnected && has_heard(round, each.name)) continue;
      each.fail(why);
    }
  }
}

// A message that a worker sent before it was lost may still be in this rank's queues, so this waits for a moment.
bool Meetings::has_heard(const Entered& round, const std::string& name) {
  std::unique_lock lock(mutex_);
  return core::wait_until(wait_info({}, round.number, round.site), lock, changed_, now() + kTellPatience,
                          [&] { return round.round->heard.contains(name); });
}

Gathered Meetings::gather(Calls& calls, const Value& object, const Entered& round, const MeetingBounds& bounds) {
  {
    const std::lock_guard lock(mutex_);
    round.round->gathered.insert_or_assign(round.self, object);
  }
  return wait_for_all(calls, round, bounds);
}

// A follower that has not taken the map gets the reason instead.
void Meetings::spread(Calls& calls, const Entered& round, const Packed& packed, const MeetingBounds& bounds) {
  const base::TimePoint begin = now();
  std::vector<Told> told = tell(calls, round, packed, bounds);
  wait_for_told(round, told);
  bool are_all_told = true;
  for (const Told& each : told) {
    if (each.error.empty()) continue;
    are_all_told = false;
    const bool is_late = each.kind == ErrorKind::Timeout || each.kind == ErrorKind::Disconnected;
    if (!is_late) tell_failure(calls, round, each.name, {each.error, each.because_of}, bounds);
  }
  if (are_all_told) return;
  const base::Nanoseconds limit = bounds.call.value_or(calls.sender().timeout());
  throw_untold(told, limit.count() > 0 ? limit : now() - begin, round.site);
}

Gathered Meetings::lead(Calls& calls, const Value& object, const Entered& round, const MeetingBounds& bounds) {
  Gathered gathered;
  Packed packed;
  try {
    gathered = gather(calls, object, round, bounds);
    if (round.names.size() > 1) packed = pack(to_value(gathered));
  } catch (const base::PeerFailed&) {
    throw;  // the followers know it
  } catch (...) {
    fail_all(calls, round, error_of(std::current_exception()), bounds);
    throw;
  }
  if (round.names.size() == 1) return gathered;
  try {
    spread(calls, round, packed, bounds);
  } catch (const Error&) {
    throw;
  } catch (...) {
    fail_all(calls, round, error_of(std::current_exception()), bounds);
    throw;
  }
  return gathered;
}

// Called on a follower that leaves the round. The leader finds out by itself if its call times out, or that it is lost.
void Meetings::report(Calls& calls, const Entered& round, const Error& why) noexcept {
  if (why.kind() == ErrorKind::Timeout || why.kind() == ErrorKind::Disconnected) return;
  try {
    Control message;
    message.kind = ControlKind::GaveUp;
    message.text = round.key;
    message.round = round.number;
    message.why = why.type() + ": " + why.what();
    message.because_of = why.because_of();
    calls.send(round.workers.find(round.leader())->second, MessageKind::Control, wire::encode(message), Urgency::Later);
  } catch (...) {
    if (!is_shortage(error_of(std::current_exception()))) return;  // it is lost, or the session has ended
    end_connection(calls, round.workers.find(round.leader())->second, "the failure of a meeting can't be reported");
  }
}

Gathered Meetings::follow(Calls& calls, const Value& object, const Entered& round, const MeetingBounds& bounds) {
  try {
    return exchange(calls, object, round, bounds);
  } catch (const base::PeerFailed&) {
    throw;  // the leader knows it
  } catch (...) {
    if (!round.is_over()) report(calls, round, error_of(std::current_exception()));
    throw;
  }
}

Gathered Meetings::exchange(Calls& calls, const Value& object, const Entered& round, const MeetingBounds& bounds) {
  const ValueList arguments{to_value(round.key), to_value(round.number), to_value(round.self), object};
  try {
    calls.sender()
        .call(request_of(round.worker(round.leader()), kGather, arguments, bounds, round.site))
        .wait({}, round.site);
  } catch (const base::PeerFailed&) {
    throw;
  } catch (const Error& why) {
    // a quick leader may leave without answering, but only after it has sent the map
    if (why.kind() != ErrorKind::Disconnected || !round.is_over()) throw;
  }
  const std::set<std::string> awaited{round.leader()};
  std::unique_lock lock(mutex_);
  const core::WaitEnd end = core::wait_for_peers(wait_info(round, awaited), lock, changed_, bounds.deadline,
                                                 [&] { return round.round->is_over || is_hopeless(round, awaited); });
  if (round.round->is_over) {
    if (round.round->failure.empty()) return std::move(round.round->gathered);
    const Failure& failure = round.round->failure;
    throw Error(ErrorKind::Failed, round.leader() + ": " + failure.text, round.site).with_cause(failure.because_of);
  }
  check(round, awaited, end);
  throw Error(ErrorKind::Timeout,
              "RPC ran for more than set timeout (" +
                  number_text("%.0f ms", 1000 * in_seconds(bounds.call.value_or(base::Nanoseconds()))) +
                  "): " + round.text() + " has not come back from " + round.leader(),
              round.site);
}

}  // namespace distrun::rpc

#include <distrun/runtime/rpc/session/detail/meetings.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/session/detail/meeting_keys.hpp>
#include <distrun/runtime/rpc/session/detail/told.hpp>

namespace distrun::rpc {
namespace {

constexpr std::size_t kRoundsMax = 10'000;  // of all groups together
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
    const std::lock_guard lock(all_.mutex_);
    Group& group = all_.groups_[key];
    number = group.entered++;
    std::shared_ptr<Round>& found = group.rounds[number];
    if (found == nullptr) {
      found = std::make_shared<Round>();
      ++all_.rounds_;
    }
    round = found;
  }
  ~Entered() {
    const std::lock_guard lock(all_.mutex_);
    all_.rounds_ -= all_.groups_[key].rounds.erase(number);
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

  const std::string& leader() const noexcept { return *names.begin(); }
  WorkerInfo worker(const std::string& name) const { return {name, workers.at(name)}; }
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
  return round.leader() == round.self ? lead(calls, object, round, bounds) : follow(calls, object, round, bounds);
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
    if (missing.empty()) return std::move(gathered);
    const std::size_t seen = gathered.size();
    const auto info = wait_info(round, missing);
    const core::WaitEnd end = core::wait_for_peers(info, lock, changed_, has_looked ? bounds.deadline : unmet, [&] {
      return gathered.size() != seen || is_hopeless(round, missing);
    });
    if (gathered.size() != seen) continue;
    check(round, missing, end);
    if (!std::exchange(has_looked, true)) {
      look_after(calls, round, missing, lock);
      continue;
    }
    throw Error(ErrorKind::Timeout,
                "Followers [" + join(missing) + "] timed out in _all_gather after " +
                    number_text("%.2f", in_seconds(bounds.call.value_or(calls.timeout()))) +
                    " seconds. The first exception is that " + *missing.begin() + " has not come",
                round.site);
  }
}

std::vector<Told> Meetings::tell(Calls& calls, const Entered& round, const Failure& failure, const Packed& packed,
                                 const MeetingBounds& bounds) {
  const std::string bytes(reinterpret_cast<const char*>(packed.bytes.data()), packed.bytes.size());
  const ValueList arguments{to_value(round.key), to_value(round.number),   to_value(failure.text),
                            to_value(bytes),     to_value(packed.tensors), to_value(failure.because_of)};
  std::vector<Told> all;
  for (const std::string& name : round.names) {
    if (name == round.self) continue;
    Told told;
    told.name = name;
    try {
      told.call = calls.call(request_of(round.worker(name), kGathered, arguments, bounds, round.site));
    } catch (const Error& why) {
      told.fail(why);
    }
    all.push_back(std::move(told));
  }
  return all;
}

// Throws base::PeerFailed; other errors are stored in `all`.
void Meetings::wait_for_told(const Entered& round, std::vector<Told>& all) {
  for (Told& each : all) {
    if (!each.call) continue;
    try {
      each.call->wait({}, round.site);
    } catch (const base::PeerFailed&) {
      throw;
    } catch (const Error& why) {
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

Gathered Meetings::lead(Calls& calls, const Value& object, const Entered& round, const MeetingBounds& bounds) {
  {
    const std::lock_guard lock(mutex_);
    round.round->gathered.insert_or_assign(round.self, object);
  }
  Gathered gathered;
  try {
    gathered = wait_for_all(calls, round, bounds);
  } catch (const base::PeerFailed&) {
    throw;  // the followers know it
  } catch (const Error& why) {
    {
      const std::lock_guard lock(mutex_);
      groups_[round.key].failure = {why.what(), why.because_of()};
    }
    // The followers' deadline has passed, too.
    if (bounds.deadline != core::kForever && why.kind() != ErrorKind::Disconnected) throw;
    for (const Told& each : tell(calls, round, {why.what(), why.because_of()}, {}, bounds)) {
      if (each.call) each.call->state()->mark_seen();
    }
    throw;
  }
  if (round.names.size() == 1) return gathered;
  const base::TimePoint begin = now();
  std::vector<Told> told = tell(calls, round, {}, pack(to_value(gathered)), bounds);
  wait_for_told(round, told);
  const bool all_told = std::all_of(told.begin(), told.end(), [](const Told& each) { return each.error.empty(); });
  if (all_told) return gathered;
  const base::Nanoseconds limit = bounds.call.value_or(calls.timeout());
  throw_untold(told, limit.count() > 0 ? limit : now() - begin, begin, round.site);
}

Gathered Meetings::follow(Calls& calls, const Value& object, const Entered& round, const MeetingBounds& bounds) {
  const ValueList arguments{to_value(round.key), to_value(round.number), to_value(round.self), object};
  try {
    calls.call(request_of(round.worker(round.leader()), kGather, arguments, bounds, round.site)).wait({}, round.site);
  } catch (const base::PeerFailed&) {
    throw;
  } catch (const Error& why) {
    // a quick leader may leave without answering, but only after it has sent the map
    const std::lock_guard lock(mutex_);
    if (why.kind() != ErrorKind::Disconnected || !round.round->is_over) throw;
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

void Meetings::contribute(const std::string& key, std::uint64_t number, const std::string& name, const Value& object) {
  const std::lock_guard lock(mutex_);
  Group& group = groups_[key];
  auto found = group.rounds.find(number);
  if (found == group.rounds.end()) {
    if (number < group.entered) {
      throw Error(ErrorKind::Failed, "the leader has given up _all_gather of " + key +
                                         (group.failure.empty() ? "" : ": " + group.failure.text))
          .with_cause(group.failure.because_of);
    }
    if (rounds_ >= kRoundsMax) {
      throw Error(ErrorKind::Overloaded, "more than " + std::to_string(kRoundsMax) + " _all_gather at once");
    }
    found = group.rounds.emplace(number, std::make_shared<Round>()).first;
    ++rounds_;
  }
  found->second->gathered.emplace(name, object);
  changed_.notify_all();
}

std::shared_ptr<Meetings::Round> Meetings::find_round(const std::string& key, std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto group = groups_.find(key);
  if (group == groups_.end()) return nullptr;
  const auto found = group->second.rounds.find(number);
  return found != group->second.rounds.end() ? found->second : nullptr;
}

void Meetings::finish(const std::string& key, std::uint64_t number, const Failure& failure, const Packed& packed,
                      const std::function<void()>& before) {
  Gathered gathered;
  if (failure.empty()) gathered = from_value<Gathered>(unpack(packed));
  const std::shared_ptr<Round> round = find_round(key, number);
  if (round == nullptr) {
    throw Error(ErrorKind::Failed, "it has given up _all_gather number " + std::to_string(number) + " of " + key);
  }
  const auto go_on = [&] {
    const std::lock_guard lock(mutex_);
    round->gathered = std::move(gathered);
    round->failure = failure;
    round->is_over = true;
    changed_.notify_all();
  };
  try {
    before();
  } catch (...) {
    go_on();
    throw;
  }
  go_on();
}

void Meetings::hear(const std::string& key, std::uint64_t number, const std::string& name) {
  const std::shared_ptr<Round> round = find_round(key, number);
  if (round == nullptr) return;
  const std::lock_guard lock(mutex_);
  round->heard.insert(name);
  changed_.notify_all();
}

void Meetings::lose(const WorkerInfo& worker, const Error& why) {
  const std::lock_guard lock(mutex_);
  const auto [lost, is_new] = lost_.try_emplace(worker.name(), Lost{worker.incarnation(), why});
  if (!is_new && lost->second.incarnation <= worker.incarnation()) lost->second = {worker.incarnation(), why};
  changed_.notify_all();
}

void Meetings::find_again(const WorkerInfo& worker) {
  const std::lock_guard lock(mutex_);
  const auto lost = lost_.find(worker.name());
  if (lost != lost_.end() && lost->second.incarnation <= worker.incarnation()) lost_.erase(lost);
  std::erase_if(groups_,
                [&](const auto& each) { return each.second.rounds.empty() && names_earlier(each.first, worker); });
}

void Meetings::close(const char* why) noexcept {
  const std::lock_guard lock(mutex_);
  if (closed_ == nullptr) closed_ = why;
  changed_.notify_all();
}

}  // namespace distrun::rpc

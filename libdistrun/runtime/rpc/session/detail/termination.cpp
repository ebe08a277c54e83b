#include <distrun/runtime/rpc/session/detail/termination.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/future/unseen_errors.hpp>
#include <distrun/runtime/rpc/session/detail/shutdown_status.hpp>

namespace distrun::rpc {

using namespace std::chrono_literals;

namespace {

constexpr base::Nanoseconds kLook = 200ms;  // interval at which a wait for quiet checks whether it can still succeed
constexpr base::Nanoseconds kFirstRoundRest = 50us;  // between rounds with different numbers
constexpr base::Nanoseconds kLastRoundRest = 10ms;
constexpr base::Nanoseconds kAskPatience = 200ms;     // for members to answer Ask
constexpr base::Nanoseconds kLeaderPatience = 500ms;  // past the deadline: the leader reports the same reason to all
constexpr base::Nanoseconds kAckPatience = 2s;        // for members to confirm Done
constexpr base::Nanoseconds kUnevenPatience = 1s;     // for differing numbers, before the rank's report shows them

base::TimePoint after(base::Nanoseconds duration, base::TimePoint deadline) {
  return std::min(deadline, base::deadline_after(duration));
}

Control control(ControlKind kind, std::uint64_t round = 0) {
  Control message;
  message.kind = kind;
  message.round = round;
  return message;
}

// Sends to a worker that may be gone. Without memory both lose each other: the worker would wait in vain.
void try_send(Calls& calls, WorkerId to, const Control& message) noexcept {
  try {
    calls.send(to, MessageKind::Control, wire::encode(message), Urgency::Later);
  } catch (const std::bad_alloc&) {
    calls.agent().give_up(to, base::out_of_memory(ErrorKind::Disconnected));
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace

struct Termination::Running {
  Calls& calls;
  base::TimePoint begin;
  base::TimePoint deadline;
  base::Location site;
  std::vector<WorkerInfo> others = {};
  base::Nanoseconds limit = deadline - begin;

  std::set<WorkerId> ids() const {
    std::set<WorkerId> ids;
    for (const WorkerInfo& each : others) ids.insert(each.id());
    return ids;
  }
  std::string name_of(WorkerId id) const {
    for (const WorkerInfo& each : others) {
      if (each.id() == id) return each.name();
    }
    return calls.self().name();
  }
};

board::WaitInfo Termination::wait_info(const Running& run, const std::set<WorkerId>& awaited) {
  board::WaitInfo info;
  info.kind = board::WaitKind::Barrier;
  info.name = "rpc shutdown";
  info.rule = awaited.empty() ? board::PeerRule::None : board::PeerRule::All;
  for (const WorkerId id : awaited) info.peers.add(id);
  info.site = run.site;
  return info;
}

void Termination::run(Calls& calls, base::TimePoint begin, base::TimePoint deadline, base::Location site) {
  {
    const std::lock_guard lock(mutex_);
    is_running_ = true;
  }
  Running run{calls, begin, deadline, site};
  WorkerInfo leader = calls.self();
  for (const WorkerInfo& each : calls.agent().worker_infos()) {
    if (each.name() < leader.name()) leader = each;
    if (each.id() != calls.self().id()) run.others.push_back(each);
  }
  if (leader.id() == calls.self().id()) return lead(run);
  if (run.deadline != core::kForever) run.deadline += kLeaderPatience;
  follow(run, leader);
}

// ---- the leader

// While it exists, shows among the rank's unseen errors why the shutdown takes so long. A shutdown without a limit
// would otherwise never report it.
class Termination::Shown {
 public:
  explicit Shown(core::RankState& rank) noexcept : errors_(future::unseen_errors_of(rank)) {}
  ~Shown() {
    if (number_ != 0) errors_.remove(number_);
  }
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;

  bool is_due(bool is_even) noexcept {
    const base::TimePoint now = base::system_clock().now();
    if (is_even) since_ = now;
    return number_ == 0 && now - since_ >= kUnevenPatience;
  }
  void show(const std::string& why) {
    since_ = base::system_clock().now();
    if (!why.empty()) number_ = errors_.add("the shutdown of RPC does not end: " + why);
  }

 private:
  future::UnseenErrors& errors_;
  base::TimePoint since_ = base::system_clock().now();
  std::uint64_t number_ = 0;  // 0: none is shown
};

void Termination::lead(const Running& run) {
  try {
    probe_until_done(run);
  } catch (const Error& why) {
    Control message = control(ControlKind::Abort);
    message.text = why.what();
    message.error = static_cast<std::uint8_t>(why.kind());
    message.because_of = why.because_of();
    for (const WorkerInfo& each : run.others) try_send(run.calls, each.id(), message);
    throw;
  }
  tell_done(run);
}

void Termination::probe_until_done(const Running& run) {
  std::optional<Sums> before;
  base::Nanoseconds rest = kFirstRoundRest;
  Shown shown(run.calls.rank());
  for (std::uint64_t round = 1;; ++round) {
    const Sums sums = ask_all(run, round);
    if (shown.is_due(sums.sent == sums.received)) shown.show(explain(run, {}));
    if (sums.sent == sums.received && before == sums) return;
    // calls are in flight, and will arrive by themselves
    if (before && (sums.sent != sums.received || *before != sums)) {
      rest_between_rounds(run, rest);
      rest = std::min(2 * rest, kLastRoundRest);
    }
    before = sums;
  }
}

void Termination::rest_between_rounds(const Running& run, base::Nanoseconds rest) {
  const core::WaitEnd end = core::PollingWait(wait_info(run, {}), run.deadline).rest(rest);
  if (end == core::WaitEnd::Ready) return;
  check(run, run.ids());
  if (end == core::WaitEnd::Timeout) throw_timeout(run, run.ids());
}

Termination::Sums Termination::ask_all(const Running& run, std::uint64_t round) {
  for (const WorkerInfo& each : run.others) try_send(run.calls, each.id(), control(ControlKind::Probe, round));
  const CallCounts own = wait_quiet(run, nullptr);
  Sums sums{own.sent, own.received};
  for (;;) {
    std::set<WorkerId> missing = run.ids();
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(missing, [&](WorkerId id) { return counts_.contains(id) && counts_.at(id).round == round; });
    }
    if (missing.empty()) break;
    const std::size_t seen = missing.size();
    wait(run, missing, [&] {
      return static_cast<std::size_t>(std::count_if(missing.begin(), missing.end(), [&](WorkerId id) {
               return !counts_.contains(id) || counts_.at(id).round != round;
             })) != seen;
    });
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [id, counts] : counts_) {
    sums.sent += counts.sent;
    sums.received += counts.received;
  }
  return sums;
}

// A member that has received Done may leave at once; its loss counts as an answer.
void Termination::tell_done(const Running& run) {
  for (const WorkerInfo& each : run.others) try_send(run.calls, each.id(), control(ControlKind::Done));
  std::unique_lock lock(mutex_);
  core::wait_for_peers(wait_info(run, run.ids()), lock, changed_, after(kAckPatience, run.deadline), [&] {
    const std::set<WorkerId> ids = run.ids();
    return std::all_of(ids.begin(), ids.end(), [&](WorkerId id) { return acked_.contains(id) || lost_.contains(id); });
  });
}

// ---- a member

void Termination::follow(const Running& run, const WorkerInfo& leader) {
  std::uint64_t answered = 0;
  for (;;) {
    std::uint64_t round = 0;
    wait(run, {leader.id()}, [&] {
      round = probed_;
      return is_done_ || aborted_ || round != answered;
    });
    {
      const std::lock_guard lock(mutex_);
      if (is_done_) break;
    }
    check(run, {leader.id()});
    answer(run, leader, round);
    answered = round;
  }
  try_send(run.calls, leader.id(), control(ControlKind::Ack));
}

void Termination::answer(const Running& run, const WorkerInfo& leader, std::uint64_t round) {
  const CallCounts own = wait_quiet(run, &leader);
  Control message = control(ControlKind::Counts, round);
  message.sent = own.sent;
  message.received = own.received;
  try_send(run.calls, leader.id(), message);  // the next wait detects whether the leader is gone
}

// ---- both

CallCounts Termination::wait_quiet(const Running& run, const WorkerInfo* leader) {
  const std::set<WorkerId> awaited = leader != nullptr ? std::set<WorkerId>{leader->id()} : run.ids();
  for (;;) {
    const CallCounts counts = run.calls.counts();
    if (counts.is_quiet()) return counts;
    if (run.calls.wait_quiet(after(kLook, run.deadline), run.site)) continue;
    check(run, awaited);
    if (base::system_clock().now() >= run.deadline) throw_timeout(run, {run.calls.self().id()});
  }
}

template <class Ready>
void Termination::wait(const Running& run, const std::set<WorkerId>& awaited, Ready ready) {
  core::WaitEnd end{};
  {
    std::unique_lock lock(mutex_);
    end = core::wait_for_peers(wait_info(run, awaited), lock, changed_, run.deadline, [&] {
      return ready() || std::any_of(awaited.begin(), awaited.end(), [&](WorkerId id) { return lost_.contains(id); });
    });
    if (ready()) return;
  }
  if (end == core::WaitEnd::PeerFailed) core::throw_peer_failed("shutdown", run.site);
  check(run, awaited);
  throw_timeout(run, awaited);
}

void Termination::check(const Running& run, const std::set<WorkerId>& awaited) {
  if (core::rank_state().has_failed_peer()) core::throw_peer_failed("shutdown", run.site);
  const std::lock_guard lock(mutex_);
  if (aborted_) throw Error(aborted_->error_kind(), aborted_->text, run.site).with_cause(aborted_->because_of);
  for (const WorkerId id : awaited) {
    const auto found = lost_.find(id);
    if (found == lost_.end()) continue;
    throw Error(ErrorKind::Disconnected,
                "shutdown: " + run.name_of(id) + " is gone, and its open calls are not known: " + found->second.what(),
                run.site)
        .with_cause(found->second.because_of());
  }
}

void Termination::throw_timeout(const Running& run, const std::set<WorkerId>& awaited) {
  const std::string who = explain(run, awaited);
  throw Error(ErrorKind::Timeout, "shutdown: after " + base::human(run.limit) + " still missing: " + who, run.site);
}

// Asks all workers, since the awaited ones may in turn be waiting for the others.
std::string Termination::explain(const Running& run, const std::set<WorkerId>& awaited) {
  {
    const std::lock_guard lock(mutex_);
    statuses_.clear();
  }
  for (const WorkerInfo& each : run.others) try_send(run.calls, each.id(), control(ControlKind::Ask));
  std::unique_lock lock(mutex_);
  core::wait_until(wait_info(run, {}), lock, changed_, base::system_clock().now() + kAskPatience,
                   [&] { return statuses_.size() + lost_.size() >= run.others.size(); });
  std::string text;
  const auto add = [&](const std::string& name, const std::string& what) {
    if (!what.empty()) text += (text.empty() ? "" : ", ") + name + " (" + what + ")";
  };
  ShutdownStatuses known{{run.calls.self(), status_of(run.calls, true)}};
  add(run.calls.self().name(), what_it_does(known.begin()->second));
  for (const WorkerInfo& each : run.others) {
    const auto found = statuses_.find(each.id());
    if (found == statuses_.end()) {
      add(each.name(), lost_.contains(each.id()) ? "is gone" : "does not answer");
    } else {
      add(each.name(), what_it_does(found->second));
      known.emplace(each, found->second);
    }
  }
  if (!text.empty()) return text;
  text = what_is_uneven(known);
  for (const WorkerId id : text.empty() ? awaited : std::set<WorkerId>()) add(run.name_of(id), "is quiet by now");
  return text;
}

// ---- incoming messages

void Termination::receive(Calls& calls, const WorkerInfo& from, Control message) {
  std::optional<Control> answer;
  {
    const std::lock_guard lock(mutex_);
    switch (message.kind) {
      case ControlKind::Probe: probed_ = std::max(probed_, message.round); break;
      case ControlKind::Counts: counts_[from.id()] = std::move(message); break;
      case ControlKind::Done: is_done_ = true; break;
      case ControlKind::Ack: acked_.insert(from.id()); break;
      case ControlKind::Abort: aborted_ = std::move(message); break;
      case ControlKind::Status: statuses_[from.id()] = std::move(message); break;
      case ControlKind::Heard:
      case ControlKind::GaveUp: break;  // of meetings
      case ControlKind::Leave: break;   // of elastic groups
      case ControlKind::Ask: {
        answer = status_of(calls, is_running_);
        break;
      }
    }
  }
  changed_.notify_all();
  if (answer) try_send(calls, from.id(), *answer);
}

void Termination::fail() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (aborted_) return;
    aborted_.emplace();
    aborted_->text = "out of memory";  // short: takes none
  }
  changed_.notify_all();
}

std::optional<Error> Termination::first_lost() {
  const std::lock_guard lock(mutex_);
  return first_lost_;
}

void Termination::lose(const WorkerInfo& peer, const Error& why) {
  {
    const std::lock_guard lock(mutex_);
    lost_.insert_or_assign(peer.id(), why);
    if (!first_lost_) first_lost_ = why;
  }
  changed_.notify_all();
}

}  // namespace distrun::rpc

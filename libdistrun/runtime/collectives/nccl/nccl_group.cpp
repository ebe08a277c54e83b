#include <distrun/runtime/collectives/nccl/nccl_group.hpp>

#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/explain.hpp>
#include <distrun/runtime/collectives/nccl/ras_text.hpp>
#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/core/wait.hpp>

namespace distrun::collectives {
namespace {

using namespace std::chrono_literals;

constexpr base::Nanoseconds kLook = 20ms;      // interval of the watchdog's checks
constexpr base::Nanoseconds kGrace = 1s;       // time left for better explanations than a timeout
constexpr base::Nanoseconds kLeaveMost = 10s;  // limit for active calls when the rank leaves
constexpr base::Nanoseconds kLeaveLook = 200us;
constexpr base::Nanoseconds kAskMost = 1s;  // for NCCL's RAS

GroupInfo pair_info(const GroupInfo& group, int from, int to) {
  GroupInfo pair;
  const auto rank = [&](int place) { return group.ranks[static_cast<std::size_t>(place)]; };
  pair.name = group.name + ", from rank " + std::to_string(rank(from)) + " to rank " + std::to_string(rank(to));
  pair.ranks = {rank(from), rank(to)};
  pair.rank = group.rank == from ? 0 : 1;
  return pair;
}

}  // namespace

NcclGroup::NcclGroup(GroupInfo group, NcclParts parts)
    : group_(std::move(group)), parts_(std::move(parts)), rank_(core::rank_state()) {}

void NcclGroup::join(base::TimePoint deadline) {
  if (!parts_.library->compares()) {
    PrefixStore own("compared", parts_.store);
    comparison_ = Comparison::meet(own, group_, deadline);
  }
  if (parts_.split) {
    const auto lane = add_lane("nccl/1", group_, parts_.gpu);
    lane->use(parts_.split(group_, deadline));
    lanes_[parts_.gpu] = lane;
  }
  lane_on(parts_.gpu, deadline);
  if (parts_.settings.has_watchdog) Watchdog::of_process().watch(shared_from_this());
}

std::unique_ptr<nccl_line::Communicator> NcclGroup::split(const GroupInfo& group, int colour,
                                                          base::TimePoint deadline) {
  refuse_if_over();
  return lane_on(parts_.gpu, deadline)->split(group, colour, deadline);
}

std::shared_ptr<Lane> NcclGroup::add_lane(const std::string& key, const GroupInfo& group, device::Device gpu) {
  auto lane = std::make_shared<Lane>(key, group, gpu);
  all_lanes_.push_back(lane);
  return lane;
}

// All ranks begin to use their GPUs in the same order of calls.
std::shared_ptr<Lane> NcclGroup::lane_on(device::Device gpu, base::TimePoint deadline) {
  std::shared_ptr<Lane> lane;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Lane>& found = lanes_[gpu];
    if (found == nullptr) found = add_lane("nccl/" + std::to_string(lanes_.size()), group_, gpu);
    lane = found;
  }
  if (!lane->is_connected()) lane->connect(*parts_.library, *parts_.store, deadline);
  return lane;
}

std::shared_ptr<NcclGroup::Pair> NcclGroup::pair_of(int from, int to, device::Device gpu) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Pair>& found = pairs_[{from, to, gpu}];
  if (found != nullptr) return found;
  const std::string way = std::to_string(from) + "-" + std::to_string(to);
  const auto number = std::count_if(pairs_.begin(), pairs_.end(), [&](const auto& each) {
    return std::get<0>(each.first) == from && std::get<1>(each.first) == to;
  });
  found = std::make_shared<Pair>();
  found->lane = add_lane("nccl/" + way + "/" + std::to_string(number), pair_info(group_, from, to), gpu);
  found->queue = std::make_shared<CallQueue>(future::handler_pool());
  return found;
}

void NcclGroup::refuse_if_over() {
  try {
    throw_if_over();
  } catch (const Error&) {
    see();
    throw;
  }
}

void NcclGroup::throw_if_over() const {
  const std::lock_guard lock(mutex_);
  if (!over_.empty()) throw Error(ErrorKind::Cancelled, "DistBackendError", "group " + group_.name + ": " + over_);
}

std::shared_ptr<PendingCall> NcclGroup::put(StreamCall call) {
  refuse_if_over();
  return is_point_to_point(call.call.kind) ? put_point_to_point(std::move(call)) : put_collective(std::move(call));
}

std::shared_ptr<PendingCall> NcclGroup::put_collective(StreamCall call) {
  device::Event before;
  before.record(device::current_stream(call.gpu));
  const std::shared_ptr<Lane> lane = lane_on(call.gpu, call.call.deadline);
  const bool blocks = parts_.settings.blocking_wait || call.call.kind == CallKind::Barrier;
  const auto pending =
      std::make_shared<PendingCall>(std::move(call), group_, weak_from_this(), lane, blocks ? Blocks::Yes : Blocks::No);
  keep(pending);
  try {
    lane->put(*pending, before);
  } catch (...) {
    const std::exception_ptr why = with_name(*pending, std::current_exception());
    fail(why);
    std::rethrow_exception(pending->error());  // this error, or the one that ended the group before
  }
  compare(pending);
  return pending;
}

// Puts a message at once if its communicator is connected or the call may block.
std::shared_ptr<PendingCall> NcclGroup::put_point_to_point(StreamCall call) {
  const bool is_sent = call.call.kind == CallKind::Send;
  const int other = call.call.root;
  const auto pair = is_sent ? pair_of(group_.rank, other, call.gpu) : pair_of(other, group_.rank, call.gpu);
  const auto before = std::make_shared<device::Event>();
  before->record(device::current_stream(call.gpu));
  call.call.kind = CallKind::Send;  // both sides make the same call, from the first of two ranks
  call.call.root = 0;
  const bool may_put = !call.async || pair->lane->is_connected();
  std::unique_lock turn(pair->turn);  // numbers are in the order of the queue
  call.call.number = ++pair->asked;
  const auto pending = std::make_shared<PendingCall>(std::move(call), pair->lane->group(), weak_from_this(), pair->lane,
                                                     parts_.settings.blocking_wait ? Blocks::Yes : Blocks::No);
  keep(pending);
  if (may_put && pair->queue->try_begin() != 0) {
    const std::unique_ptr<CallQueue, void (*)(CallQueue*)> end(pair->queue.get(),
                                                               [](CallQueue* queue) { queue->end(); });
    turn.unlock();
    put_in_turn(*pair, pending, *before);
  } else {
    pair->queue->post([&](std::uint64_t) {
      return [self = shared_from_this(), pair, pending, before] { self->put_in_turn(*pair, pending, *before); };
    });
  }
  return pending;
}

void NcclGroup::put_in_turn(Pair& pair, const std::shared_ptr<PendingCall>& pending, const device::Event& before) {
  if (pending->is_settled()) return;
  try {
    throw_if_over();
    if (!pair.lane->is_connected()) pair.lane->connect(*parts_.library, *parts_.store, pending->call().deadline);
    pair.lane->put(*pending, before);
  } catch (Error& error) {
    const GroupInfo& of = pair.lane->group();
    const bool is_sent = of.rank == 0;
    error.while_doing(std::string(is_sent ? "a send to rank " : "a receive from rank ") +
                      std::to_string(of.ranks[is_sent ? 1 : 0]) + " in group " + group_.name);
    fail(std::current_exception());
  } catch (...) {
    fail(with_name(*pending, std::current_exception()));
  }
}

void NcclGroup::keep(const std::shared_ptr<PendingCall>& pending) {
  bool is_first = false;
  std::string over;
  {
    const std::lock_guard lock(mutex_);
    is_first = calls_.empty();
    if (over_.empty()) calls_.push_back(pending);
    over = over_;
  }
  if (!over.empty()) {
    pending->settle(std::make_exception_ptr(
        Error(ErrorKind::Cancelled, "DistBackendError", "group " + group_.name + ": " + over, pending->call().site)));
  }
  if (is_first && parts_.settings.has_watchdog) Watchdog::of_process().wake();
}

void NcclGroup::compare(const std::shared_ptr<PendingCall>& pending) {
  if (comparison_ == nullptr) return;
  comparison_->compare(pending->call(), [self = weak_from_this(), pending](std::exception_ptr wrong) {
    if (wrong == nullptr) return pending->set_met();
    if (const auto there = self.lock()) there->fail_late(there->group_, wrong);
  });
}

// ---- results of calls

// Adds the call's name to the library's errors; an Error has it already.
std::exception_ptr NcclGroup::with_name(const PendingCall& call, const std::exception_ptr& why) const {
  try {
    std::rethrow_exception(why);
  } catch (const base::Error&) {
    return why;
  } catch (...) {
    const Call& of = call.call();
    return std::make_exception_ptr(Error(ErrorKind::Failed, "DistBackendError",
                                         name_of(call.lane().group(), of.kind, of.number) + ": " + thrown_text(why),
                                         of.site));
  }
}

void NcclGroup::look_at(PendingCall& call, bool host_sees) {
  if (call.is_settled()) return;
  const bool has_passed = call.has_passed(host_sees);
  const nccl_line::Failure failure = call.lane().failure();
  const bool is_meant = failure.first == 0 ? !has_passed : failure.first <= call.call().number;
  if (failure.why != nullptr && is_meant) {
    fail(with_name(call, failure.why));
  } else if (has_passed) {
    call.settle(nullptr);
  }
}

std::vector<int> NcclGroup::missing(const PendingCall& call) const {
  if (comparison_ == nullptr || is_point_to_point(call.call().kind)) return call.lane().missing();
  return call.has_met() ? std::vector<int>() : comparison_->missing();
}

std::exception_ptr NcclGroup::peer_failure(const PendingCall& call) const {
  try {
    core::throw_peer_failed(name_of(call.lane().group(), call.call().kind, call.call().number), call.call().site);
  } catch (...) {
    return std::current_exception();
  }
}

// Allows other sources of a better explanation a moment (kGrace).
void NcclGroup::time_out(PendingCall& call) {
  look_at(call, false);
  if (call.is_settled()) return;
  const base::TimePoint now = base::system_clock().now();
  const Call& of = call.call();
  if (comparison_ != nullptr && rank_.has_failed_peer()) return fail(peer_failure(call));
  if (now < of.deadline) return;
  const bool is_met = comparison_ != nullptr && call.has_met();
  if (!is_met && now - of.deadline < kGrace) return;
  const std::string what = is_met ? "all ranks have called it, but nccl does not complete it"
                                  : "the stream has not reached it, or nccl does not complete it";
  const GroupInfo& ranks = call.lane().group();
  fail_late(ranks, std::make_exception_ptr(Error(ErrorKind::Timeout, "DistBackendError",
                                                 name_of(ranks, of.kind, of.number) + " has timed out after " +
                                                     base::human(of.timeout) + ": " + what,
                                                 of.site)));
}

NcclGroup::Calls NcclGroup::unsettled() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

void NcclGroup::forget_settled() {
  const std::lock_guard lock(mutex_);
  std::erase_if(calls_, [](const auto& each) { return each->is_settled(); });
}

base::TimePoint NcclGroup::look() noexcept {
  core::ThreadState state;
  state.rank = &rank_;
  const core::ThreadStateGuard guard(std::move(state));
  const Calls calls = unsettled();
  for (const auto& each : calls) {
    try {
      time_out(*each);
    } catch (...) {
      fail(std::current_exception());  // a driver error: the call cannot be queried
    }
  }
  forget_settled();
  return base::system_clock().now() + (calls.empty() ? base::Nanoseconds(kGrace) : kLook);
}

std::string NcclGroup::why_over() {
  for (const auto& each : unsettled()) look_at(*each, false);
  const std::lock_guard lock(mutex_);
  if (!over_.empty()) see();
  return over_;
}

// Finished calls succeed; all others fail.
void NcclGroup::fail(const std::exception_ptr& why) noexcept {
  const std::string text = thrown_text(why);
  Calls calls;
  std::vector<std::shared_ptr<Lane>> lanes;
  {
    const std::lock_guard lock(mutex_);
    if (!over_.empty()) return;
    over_ = text.empty() ? "it has failed" : text;
    calls.swap(calls_);
    lanes = all_lanes_;
  }
  if (!is_of_kind(why, ErrorKind::Cancelled)) unseen_.begin_failure(rank_, why);  // else it was ended on purpose
  Lane::go(*parts_.store, group_.ranks[static_cast<std::size_t>(group_.rank)], "has given up the group: " + text);
  for (const auto& each : calls) {
    const bool is_before = each->lane().failure().first > each->call().number;
    if ((is_before || each->lane().failure().why == nullptr) && each->has_passed(false)) each->settle(nullptr);
    each->settle(why);
  }
  if (comparison_ != nullptr) comparison_->leave(Leaving::GaveUp, text);
  for (const auto& each : lanes) each->abort(text);
}

std::exception_ptr NcclGroup::with_diagnosis(const GroupInfo& of, const std::exception_ptr& why) const {
  const std::string address = parts_.library->ras_address();
  if (address.empty()) return why;
  board::WaitInfo info;
  info.kind = board::WaitKind::Collective;
  info.name = "what NCCL's RAS says of its ranks";
  std::optional<core::Wait> shown(std::in_place, info, base::system_clock().now() + kAskMost);
  std::string why_none;  // NCCL's report is optional: the error stands without it
  const std::optional<RasReport> report = ask_ras(address, kAskMost, why_none);
  shown.reset();
  const std::string said = report ? ras_text(*report, of, ::getpid()) : "";
  if (said.empty()) return why;
  try {
    std::rethrow_exception(why);
  } catch (const Error& error) {
    Error with(error.kind(), error.type(), error.text() + "; " + said, error.where());
    for (const std::string& doing : error.context()) with.while_doing(doing);
    return std::make_exception_ptr(with);
  }
}

// Only a timeout needs a diagnosis.
void NcclGroup::fail_late(const GroupInfo& of, const std::exception_ptr& why) noexcept {
  if (!is_of_kind(why, ErrorKind::Timeout)) return fail(why);
  if (is_ending_.exchange(true)) return;  // the thread that asks the RAS ends the group and its calls
  std::exception_ptr explained = why;
  try {
    explained = with_diagnosis(of, why);
  } catch (const std::exception&) {
    // Keeps the original error.
  }
  fail(explained);
}

// ---- the end

bool NcclGroup::wait_for_all(base::TimePoint deadline) {
  board::WaitInfo info;
  info.kind = board::WaitKind::Collective;
  info.name = "the end of its calls";
  std::optional<core::PollingWait> wait;
  for (;;) {
    for (const auto& each : unsettled()) look_at(*each, false);
    forget_settled();
    if (unsettled().empty() && (comparison_ == nullptr || comparison_->is_idle())) return true;
    if (base::system_clock().now() >= deadline) return false;
    if (!wait) wait.emplace(info, deadline);
    if (wait->rest(kLeaveLook) != core::WaitEnd::Ready) std::this_thread::yield();
  }
}

void NcclGroup::settle(base::TimePoint deadline) noexcept {
  try {
    wait_for_all(deadline);
  } catch (...) {
    fail(std::current_exception());
  }
}

void NcclGroup::leave(Leaving how, const std::string& why) noexcept {
  bool is_left = false;
  try {
    if (how == Leaving::Done && wait_for_all(base::system_clock().now() + kLeaveMost)) {
      const std::lock_guard lock(mutex_);
      is_left = std::exchange(over_, over_.empty() ? "this rank has left it" : over_).empty();
    } else {
      fail(std::make_exception_ptr(Error(ErrorKind::Cancelled, "DistBackendError", why.empty() ? "it was left" : why)));
    }
  } catch (...) {
    fail(std::current_exception());
  }
  if (is_left) {
    Lane::go(*parts_.store, group_.ranks[static_cast<std::size_t>(group_.rank)], "has left the group");
  }
  std::vector<std::shared_ptr<Lane>> lanes;
  {
    const std::lock_guard lock(mutex_);
    lanes = all_lanes_;
  }
  if (comparison_ != nullptr) comparison_->leave(how, why);
  for (const auto& each : lanes) each->close();
  Watchdog::of_process().forget(*this);
}

}  // namespace distrun::collectives

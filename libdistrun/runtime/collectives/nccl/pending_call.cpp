#include <distrun/runtime/collectives/nccl/pending_call.hpp>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/explain.hpp>
#include <distrun/runtime/core/wait.hpp>

namespace distrun::collectives {
namespace {

using namespace std::chrono_literals;

constexpr base::Nanoseconds kShortRest = 20us, kLongRest = 1ms;

}  // namespace

PendingCall::PendingCall(StreamCall of, GroupInfo group, std::weak_ptr<Judge> judge, std::shared_ptr<Lane> lane,
                         Blocks blocks)
    : of_(std::move(of)),
      group_(std::move(group)),
      judge_(std::move(judge)),
      lane_(std::move(lane)),
      blocks_(blocks),
      begin_(base::system_clock().now()) {}

PendingCall::~PendingCall() {
  if (end_ != device::EventId{}) device::driver_of(of_.gpu).destroy_event(of_.gpu.index, end_);
}

void PendingCall::put_on(device::Stream stream) {
  device::Driver& driver = stream.driver();
  const device::EventId end = driver.make_event(of_.gpu.index, {});
  {
    const std::lock_guard lock(mutex_);
    end_ = end;
    driver.record(stream.ref(), end_);
    is_put_ = true;
  }
  changed_.notify_all();
}

void PendingCall::settle(std::exception_ptr error) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (is_settled_) return;
    is_settled_ = true;
    error_ = std::move(error);
  }
  changed_.notify_all();
}

bool PendingCall::is_settled() const {
  const std::lock_guard lock(mutex_);
  return is_settled_;
}

void PendingCall::set_met() noexcept {
  const std::lock_guard lock(mutex_);
  has_met_ = true;
}

bool PendingCall::has_met() const {
  const std::lock_guard lock(mutex_);
  return has_met_;
}

bool PendingCall::has_passed(bool host_sees) const {
  {
    const std::lock_guard lock(mutex_);
    if (!is_put_) return false;
  }
  device::Driver& driver = device::driver_of(of_.gpu);
  return host_sees ? driver.is_done(end_) : driver.is_done_with(&begin_, sizeof begin_, end_);
}

bool PendingCall::done() {
  if (const auto judge = judge_.lock()) judge->look_at(*this, true);
  return is_settled();
}

std::exception_ptr PendingCall::error() {
  const auto judge = judge_.lock();
  if (judge != nullptr) judge->look_at(*this, false);
  const std::lock_guard lock(mutex_);
  if (judge != nullptr && error_ != nullptr) judge->see();
  return error_;
}

void PendingCall::throw_if_failed() {
  if (!is_settled()) return;
  if (const std::exception_ptr failed = error()) std::rethrow_exception(failed);
}

std::vector<int> PendingCall::missing() const {
  const auto judge = judge_.lock();
  return judge == nullptr ? std::vector<int>() : judge->missing(*this);
}

// Shows a wait for the missing ranks, or for all others if the missing ranks are unknown.
board::WaitInfo PendingCall::shown(const std::string& name, base::Location site) const {
  board::WaitInfo info;
  info.kind = board::WaitKind::Collective;
  info.rule = board::PeerRule::All;
  info.name = name;
  info.id = of_.call.number;
  info.site = site;
  const std::vector<int> places = missing();
  for (const int place : places) info.peers.add(group_.ranks[static_cast<std::size_t>(place)]);
  for (const int rank : group_.ranks) {
    if (places.empty() && rank != group_.ranks[static_cast<std::size_t>(group_.rank)]) info.peers.add(rank);
  }
  return info;
}

void PendingCall::throw_not_done(const std::vector<int>& missing, base::Location site) const {
  const base::Nanoseconds waited = base::system_clock().now() - begin_;
  throw Error(ErrorKind::Timeout, "DistBackendError",
              name_of(group_, of_.call.kind, of_.call.number) + " is not done after " + base::human(waited) +
                  (missing.empty() ? "" : ", it waits for " + what_they_do(group_, missing)) +
                  "; it is still in progress",
              site);
}

void PendingCall::wait(std::optional<base::Nanoseconds> timeout, base::Location site) {
  wait_until_put(site);
  if (blocks_ == Blocks::Yes || timeout.has_value()) {
    block(timeout, site);
  } else if (const auto judge = judge_.lock()) {
    judge->look_at(*this, false);
  }
  throw_if_failed();
  const device::Stream stream = device::current_stream(of_.gpu);
  stream.driver().wait(stream.ref(), end_);
  for (const Tensor& each : of_.touched) each.record_stream(stream);
}

void PendingCall::wait_until_put(base::Location site) {
  const std::string name = std::string(name_of(of_.call.kind)) + " of " + group_.name + ", to begin";
  const board::WaitInfo info = shown(name, site);
  std::unique_lock lock(mutex_);
  core::wait_until(info, lock, changed_, core::kForever, [this] { return is_put_ || is_settled_; });
}

// Blocks until the call is settled, by the judge, which this thread asks, or by an abort of the group.
void PendingCall::block(std::optional<base::Nanoseconds> timeout, base::Location site) {
  if (done()) return;
  const base::TimePoint until = timeout ? base::deadline_after(*timeout) : core::kForever;
  const std::string name = std::string(name_of(of_.call.kind)) + " of " + group_.name;
  std::optional<core::PollingWait> wait;
  std::vector<int> waited_for;
  for (base::Nanoseconds rest = kShortRest; !done(); rest = std::min(2 * rest, kLongRest)) {
    std::vector<int> now_missing = missing();
    if (base::system_clock().now() >= until) throw_not_done(now_missing, site);
    if (const auto judge = judge_.lock()) judge->time_out(*this);
    if (!wait || now_missing != waited_for) wait.emplace(shown(name, site), std::min(until, of_.call.deadline));
    waited_for = std::move(now_missing);
    if (wait->rest(rest) != core::WaitEnd::Ready) std::this_thread::yield();  // the call is about to end
  }
}

}  // namespace distrun::collectives

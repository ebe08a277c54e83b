#include <distrun/runner/attempt/standing_world.hpp>

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rank_hosts.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/common/wire/skip_table.hpp>
#include <distrun/runner/record/outcome.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {
namespace {

constexpr auto kClosePatience = std::chrono::seconds(1);
constexpr auto kLook = std::chrono::milliseconds(5);  // interval between checks for leftovers
constexpr int kStandingLooksMax = 20;                 // what ends by itself within this time is no leftover

std::string text_of(proc::ExitStatus status) {
  return status.signaled() ? "was " + describe({OutcomeKind::Signaled, status.signal(), ""})
                           : describe({OutcomeKind::Exited, status.code(), ""});
}

// A dismissed rank ends with the exit code that its last test leads to.
bool is_good_end(proc::ExitStatus status) {
  return status.clean() || (status.exited() && status.code() == wire::find_skip("generic")->exit_code);
}

}  // namespace

bool StandingWorld::serves(const launch::WorldSpec& spec, const std::string& suite) const {
  return world_ && lent_to_ == nullptr && broken_.empty() && suite == suite_ && spec.plugin == spec_.plugin &&
         spec.isolation == spec_.isolation && spec.world_size == spec_.world_size;
}

std::shared_ptr<launch::World> StandingWorld::lend(const launch::WorldSpec& spec, const std::string& suite,
                                                   launch::WorldEvents& to) {
  const bool again = serves(spec, suite);
  if (!again) forget();
  lent_to_ = &to;
  if (again) {
    resume();
    if (output_ == Output::Forgotten) world_->forget_output();
    world_->renew(spec);
    return world_;
  }
  spec_ = spec;
  suite_ = suite;
  pids_.assign(static_cast<std::size_t>(spec.world_size), 0);
  world_ = node_.spawn(spec, *this);
  return world_;
}

void StandingWorld::take_back(bool whole) {
  lent_to_ = nullptr;
  if (!whole) return forget();
  if (alive_.size() < pids_.size()) broken_ = last_death_;  // a rank died when its test was already over
}

void StandingWorld::forget() {
  world_.reset();
  held_.clear();
  pids_.clear();
  alive_.clear();
  stopped_.clear();
  broken_.clear();
  last_status_.reset();
  bad_end_.clear();
  killed_ = false;
}

void StandingWorld::pause() {
  if (!world_ || lent_to_ != nullptr) return;
  for (const int rank : alive_) {
    if (world_->process_state(rank).stopped || !stopped_.insert(rank).second) continue;
    world_->signal(rank, SIGSTOP);
  }
}

void StandingWorld::resume() {
  for (const int rank : std::exchange(stopped_, {})) {
    if (world_) world_->signal(rank, SIGCONT);
  }
}

void StandingWorld::dismiss() {
  for (const int rank : alive_) {
    try {
      world_->send(rank, wire::pack_frame(wire::ControlFrame::Dismiss, static_cast<std::uint16_t>(rank), {}));
    } catch (const Error&) {
      // The rank does not read; it is killed when the time is over.
    }
  }
}

// Waits until all ranks have ended or the time is over.
io::Task<void> StandingWorld::until_closed(base::Nanoseconds patience) {
  closed_ = std::make_unique<io::OneShot<bool>>(loop_);
  io::Alarm alarm(loop_, [this] {
    if (!closed_->is_set()) closed_->set(true);
  });
  alarm.set_after(patience);
  co_await closed_->wait();
  closed_.reset();
}

// Looks for processes that exit handlers have started or left; those left by tests are reported with the tests.
io::Task<void> StandingWorld::look_for_leftovers() {
  if (world_->spread() != nullptr) co_return co_await look_elsewhere();
  std::vector<launch::Leftover> left = world_->leftovers();
  for (int look = 1; look < kStandingLooksMax && !left.empty(); ++look) {
    io::OneShot<bool> over(loop_);
    io::Alarm alarm(loop_, [&over] { over.set(true); });
    alarm.set_after(kLook);
    co_await over.wait();
    left = world_->leftovers();
  }
  const auto stays = std::find_if(left.begin(), left.end(), [](const auto& leftover) { return !leftover.ends; });
  if (stays != left.end()) bad_end_ = "they left the process " + stays->process + " behind";
}

io::Task<void> StandingWorld::look_elsewhere() {
  io::OneShot<std::vector<launch::LeftBehind>> swept(loop_);
  world_->sweep(true, [&swept](std::vector<launch::LeftBehind> left) { swept.set(std::move(left)); });
  const std::vector<launch::LeftBehind> left = co_await swept.wait();
  const auto process = std::find_if(left.begin(), left.end(), [](const launch::LeftBehind& each) {
    return each.kind == static_cast<std::uint8_t>(LeakKind::Process);
  });
  if (process != left.end()) bad_end_ = "they left the process " + process->what + " behind";
}

io::Task<std::string> StandingWorld::close(base::Nanoseconds patience) {
  const bool dismissed = world_ && !alive_.empty() && patience.count() > 0 && broken_.empty();
  if (dismissed) {
    resume();
    dismiss();
    co_await until_closed(patience);
    if (!alive_.empty() && bad_end_.empty()) {
      bad_end_ = name_of(*alive_.begin()) + " did not end within " + base::human(patience);
    }
  }
  if (world_ && !alive_.empty()) {
    killed_ = true;
    for (const int rank : alive_) world_->signal(rank, SIGKILL);
    co_await until_closed(kClosePatience);
  }
  if (world_ && dismissed && !killed_ && bad_end_.empty()) co_await look_for_leftovers();
  if (world_) world_->end_leftovers();  // processes that the ranks have started end with them
  std::string bad_end = std::move(bad_end_);
  forget();
  co_return bad_end;
}

void StandingWorld::on_rank_started(int rank, int pid) {
  pids_[static_cast<std::size_t>(rank)] = pid;
  alive_.insert(rank);
  if (lent_to_ != nullptr) lent_to_->on_rank_started(rank, pid);
}

void StandingWorld::on_frame(int rank, const wire::Frame& frame) {
  if (lent_to_ != nullptr) lent_to_->on_frame(rank, frame);  // otherwise it belongs to a test that is over
}

void StandingWorld::on_connection_lost(int rank, const std::string& why) {
  if (lent_to_ != nullptr) return lent_to_->on_connection_lost(rank, why);
  if (why != "closed") break_with(name_of(rank) + " was lost: " + why);
}

void StandingWorld::on_stray_child(int rank) {
  if (lent_to_ != nullptr) lent_to_->on_stray_child(rank);
}

std::string StandingWorld::name_of(int rank) const {
  const launch::Spread* const spread = world_ ? world_->spread() : nullptr;
  return base::RankHosts(spread == nullptr ? std::vector<std::string>{} : spread->host_of).label(rank);
}

void StandingWorld::break_with(std::string what) {
  if (!broken_.empty()) return;
  broken_ = std::move(what);
  on_broken_();
}

void StandingWorld::on_rank_ended(int rank, proc::ExitStatus status, int because_of) {
  alive_.erase(rank);
  last_death_ = name_of(rank) + " " + text_of(status);
  last_status_ = status;
  if (lent_to_ != nullptr) return lent_to_->on_rank_ended(rank, status, because_of);
  if (closed_) {
    if (!killed_ && bad_end_.empty() && !is_good_end(status)) bad_end_ = last_death_;
    if (alive_.empty() && !closed_->is_set()) closed_->set(true);
  } else {
    break_with(last_death_);
  }
}

void StandingWorld::on_spawn_failed(const std::string& why) {
  if (lent_to_ != nullptr) lent_to_->on_spawn_failed(why);
}

// The ends of the ranks follow. They say less than the reason.
void StandingWorld::on_host_lost(const std::vector<int>& ranks, const std::string& why) {
  if (lent_to_ != nullptr) return lent_to_->on_host_lost(ranks, why);
  if (!closed_) return break_with(why);
  if (!killed_ && bad_end_.empty()) bad_end_ = why;
}

}  // namespace distrun::runner

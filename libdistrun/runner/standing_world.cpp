#include <distrun/runner/standing_world.hpp>

#include <signal.h>

#include <chrono>
#include <utility>

#include <distrun/evidence/task_state.hpp>
#include <distrun/runner/outcome.hpp>

namespace distrun::runner {
namespace {

constexpr auto kClosePatience = std::chrono::seconds(1);

std::string text_of(proc::ExitStatus status) {
  return status.signaled() ? "was " + describe({OutcomeKind::Signaled, status.signal(), ""})
                           : describe({OutcomeKind::Exited, status.code(), ""});
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
  if (alive_.size() < pids_.size()) broken_ = last_death_;  // when its test was over already
}

void StandingWorld::forget() {
  world_.reset();
  pids_.clear();
  alive_.clear();
  stopped_.clear();
  broken_.clear();
  last_status_.reset();
}

void StandingWorld::pause() {
  if (!world_ || lent_to_ != nullptr) return;
  for (const int rank : alive_) {
    const pid_t pid = pids_[static_cast<std::size_t>(rank)];
    if (evidence::read_pulse(pid, pid).state == 'T' || !stopped_.insert(rank).second) continue;
    world_->signal(rank, SIGSTOP);
  }
}

void StandingWorld::resume() {
  for (const int rank : std::exchange(stopped_, {})) {
    if (world_) world_->signal(rank, SIGCONT);
  }
}

io::Task<void> StandingWorld::close() {
  if (world_ && !alive_.empty()) {
    closed_ = std::make_unique<io::OneShot<bool>>(loop_);
    io::Alarm patience(loop_, [this] {
      if (!closed_->is_set()) closed_->set(true);
    });
    patience.set(loop_.clock().now() + kClosePatience);
    for (const int rank : alive_) world_->signal(rank, SIGKILL);
    co_await closed_->wait();
    closed_.reset();
  }
  if (world_) world_->end_leftovers();  // what they have started ends with them
  forget();
}

void StandingWorld::on_rank_started(int rank, int pid) {
  pids_[static_cast<std::size_t>(rank)] = pid;
  alive_.insert(rank);
  if (lent_to_ != nullptr) lent_to_->on_rank_started(rank, pid);
}

void StandingWorld::on_frame(int rank, const wire::Frame& frame) {
  if (lent_to_ != nullptr) lent_to_->on_frame(rank, frame);  // else it is of a test that is over
}

void StandingWorld::on_connection_lost(int rank, const std::string& why) {
  if (lent_to_ != nullptr) return lent_to_->on_connection_lost(rank, why);
  if (why != "closed") break_with(rank, "was lost: " + why);
}

void StandingWorld::break_with(int rank, std::string how) {
  if (!broken_.empty()) return;
  broken_ = "rank " + std::to_string(rank) + " " + std::move(how);
  on_broken_();
}

void StandingWorld::on_rank_ended(int rank, proc::ExitStatus status, int because_of) {
  alive_.erase(rank);
  last_death_ = "rank " + std::to_string(rank) + " " + text_of(status);
  last_status_ = status;
  if (lent_to_ != nullptr) return lent_to_->on_rank_ended(rank, status, because_of);
  if (closed_) {
    if (alive_.empty() && !closed_->is_set()) closed_->set(true);
  } else {
    break_with(rank, text_of(status));
  }
}

void StandingWorld::on_spawn_failed(const std::string& why) {
  if (lent_to_ != nullptr) lent_to_->on_spawn_failed(why);
}

}  // namespace distrun::runner

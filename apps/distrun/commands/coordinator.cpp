#include "coordinator.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/inherited.hpp>
#include <distrun/runner/proc/harmless_signals.hpp>
#include <distrun/runner/proc/process_tree.hpp>
#include <distrun/runner/proc/program.hpp>

namespace distrun::cli {
namespace {

// A signal sent to the whole group also arrives through the guard, and counts once.
constexpr auto kSameWish = std::chrono::milliseconds(200);

// Interval of checking whether the guard is stopped; there is no event for it.
constexpr auto kGuardLook = std::chrono::milliseconds(1000);
constexpr int kGuardLooks = proc::kAloneMax / kGuardLook;

// Raises the limit of open files to the maximum (a rank needs four), and returns the previous one.
std::uint64_t raise_files_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const std::uint64_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return before;
}

// Confirms a watch's event, which may be spurious: the run must not end for nothing.
bool is_readable(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1;
}

}  // namespace

launch::LocalNodeOptions node_options(const proc::RunPlaces& places) {
  launch::LocalNodeOptions options;
  options.rank_program = proc::program_beside("distrun-rank");
  options.probe_program = proc::program_beside("distrun-probe");
  options.run_id = places.run_id;
  options.files_max = raise_files_limit();
  return options;
}

CoordinatorLoop::CoordinatorLoop(proc::Coordinator coordinator, const proc::RunPlaces& places)
    : signals_(loop_.context()), guard_look_(loop_, [this] { look_at_guard(); }) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP}) {
    if (!base::is_ignored(signal)) signals_.add(signal);
  }
  node_ = std::make_unique<launch::LocalNode>(loop_, node_options(places));
  guard_ = std::make_unique<io::FdWatch>(loop_, std::move(coordinator.guard), [this] {
    if (!is_readable(guard_->fd())) return;
    guard_.reset();
    stop(runner::Urgency::AtOnce);
  });
  guard_look_.set_after(kGuardLook);
  wait_for_signal();
}

CoordinatorLoop::~CoordinatorLoop() = default;

void CoordinatorLoop::wait_for_signal() {
  signals_.async_wait([this](const auto& error, int signal) {
    if (error) return;
    on_signal(signal);
    wait_for_signal();
  });
}

void CoordinatorLoop::listen_to_keys() {
  keys_ = std::make_unique<Keys>(loop_, [this](char key) {
    if (key == 's') on_snapshot_();
  });
}

void CoordinatorLoop::on_signal(int signal) {
  if (signal == SIGQUIT) return on_snapshot_();
  if (signal == SIGTSTP) return on_stop_signal();
  if (signal == SIGCONT) return go_on_if_stopped();
  if (std::ranges::find(proc::kUserSignals, signal) != std::end(proc::kUserSignals)) return on_user_signal_(signal);
  on_end_signal();
}

void CoordinatorLoop::on_user_signal(std::function<void(int)> on_user_signal) {
  on_user_signal_ = std::move(on_user_signal);
  for (const int signal : proc::kUserSignals) signals_.add(signal);
}

// The ranks are in other process groups, which the terminal's stop does not reach.
void CoordinatorLoop::on_stop_signal() {
  if (stopped_) return;
  on_pause_();
  stopped_ = stands_by_;
  if (stands_by_) return;
  if (keys_) keys_->give_back();
  ::raise(SIGSTOP);
  if (keys_) keys_->take();
  on_resume_();
}

void CoordinatorLoop::stand_by_when_stopped() {
  stands_by_ = true;
  signals_.add(SIGCONT);
}

void CoordinatorLoop::go_on_if_stopped() {
  if (std::exchange(stopped_, false)) on_resume_();
}

void CoordinatorLoop::on_end_signal() {
  const base::TimePoint now = loop_.clock().now();
  if (!stopping_) {
    first_signal_ = now;
    stop(runner::Urgency::Polite);
  } else if (now - first_signal_ > kSameWish) {
    stop(runner::Urgency::AtOnce);
  }
}

void CoordinatorLoop::stop(runner::Urgency urgency) {
  stopping_ = true;
  go_on_if_stopped();
  if (on_stop_) on_stop_(urgency);
}

// If a run stands by, Ctrl-Z stops only its guard.
void CoordinatorLoop::look_at_guard() {
  if (!guard_) return;  // it is dead
  guard_look_.set_after(kGuardLook);
  guard_stopped_ = proc::is_stopped(::getppid()) && !stopped_ ? guard_stopped_ + 1 : 0;
  if (guard_stopped_ <= kGuardLooks) return;
  guard_stopped_ = 0;
  proc::continue_guard();
}

void CoordinatorLoop::run(io::Task<void> task) {
  std::exception_ptr failure;
  boost::asio::co_spawn(loop_.context(), std::move(task), [&](std::exception_ptr error) {
    failure = error;
    loop_.stop();
  });
  loop_.run();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace distrun::cli

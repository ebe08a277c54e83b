#include <distrun/runner/launch/rank_pauser.hpp>

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/proc/pidfd.hpp>

namespace distrun::launch {
namespace {

constexpr std::uint64_t kBetweenMs = 40;  // at most, from one pause to the next
constexpr std::uint64_t kPauseMs = 60;    // at most: much shorter than what a look at a hang takes for one

// A process that has ended meanwhile is no error.
void send(const base::Fd& process, int signal) { ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0); }

}  // namespace

RankPauser::RankPauser(io::Loop& loop, std::function<std::vector<pid_t>()> living, std::uint64_t seed)
    : living_(std::move(living)), rng_(seed), alarm_(loop, [this] { turn(); }) {
  turn();
}

RankPauser::~RankPauser() { let_go(); }

void RankPauser::turn() {
  const bool was_stopped = static_cast<bool>(stopped_);
  let_go();
  if (!was_stopped) stop_one();
  const std::uint64_t most = stopped_ ? kPauseMs : kBetweenMs;
  alarm_.set_after(std::chrono::milliseconds(1 + rng_.below(most)));
}

void RankPauser::stop_one() {
  const std::vector<pid_t> living = living_();
  if (living.empty()) return;
  try {
    stopped_ = proc::open_pidfd(living[static_cast<std::size_t>(rng_.below(living.size()))]);
    send(stopped_, SIGSTOP);
  } catch (const Error&) {
    return;  // it has just ended
  }
}

void RankPauser::let_go() {
  if (!stopped_) return;
  send(stopped_, SIGCONT);
  stopped_.reset();
}

}  // namespace distrun::launch

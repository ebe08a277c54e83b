#include <distrun/daemon/run_process.hpp>

#include <signal.h>

#include <utility>

#include <distrun/proc/pidfd.hpp>
#include <distrun/proc/process_tree.hpp>

namespace distrun::daemon {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);

// Of end(): what it does next.
enum Urgency { kPolite, kHurry, kKillCoordinator, kKillAll };

}  // namespace

RunProcess::RunProcess(io::Loop& loop, const proc::ChildSpec& spec, std::function<void(proc::ExitStatus)> on_ended)
    : on_ended_(std::move(on_ended)), loop_(loop), patience_(loop, [this] { end(); }) {
  proc::Child child = proc::start_helper(loop.context(), spec);
  pid_ = child.pid;
  death_ = std::make_unique<io::FdWatch>(loop, std::move(child.pidfd), [this] { on_readable(); });
}

// The pid is ours until it is reaped here, so no other process can be meant.
void RunProcess::signal(int number) {
  if (pid_ == 0) return;
  const bool to_all = number == SIGTSTP || number == SIGCONT || number == SIGWINCH;
  ::kill(to_all ? -pid_ : pid_, number);
}

void RunProcess::end() {
  if (pid_ == 0) return;
  switch (urgency_) {
    case kPolite:
    case kHurry:
      signal(SIGTERM);
      signal(SIGCONT);  // somebody may have stopped it
      break;
    case kKillCoordinator: kill_coordinator(); break;
    default: ::kill(-pid_, SIGKILL); break;
  }
  if (urgency_ < kKillAll) ++urgency_;
  patience_.set(loop_.clock().now() + kPatience);
}

// The guard then ends what the coordinator has started, and removes its files.
void RunProcess::kill_coordinator() {
  for (const pid_t child : proc::children_of(pid_)) ::kill(child, SIGKILL);
}

void RunProcess::on_readable() {
  const auto status = proc::try_reap(pid_);
  if (!status) return;
  pid_ = 0;
  patience_.cancel();
  death_.reset();
  const auto on_ended = std::exchange(on_ended_, {});
  on_ended(*status);
}

}  // namespace distrun::daemon

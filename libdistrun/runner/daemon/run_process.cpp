#include <distrun/runner/daemon/run_process.hpp>

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include <distrun/runner/daemon/own_run.hpp>
#include <distrun/runner/proc/pidfd.hpp>
#include <distrun/runner/proc/process_tree.hpp>

namespace distrun::daemon {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);

// The next step of end().
enum Urgency { kPolite, kHurry, kKillCoordinator, kKillAll };

}  // namespace

RunProcess::RunProcess(io::Loop& loop, proc::ChildSpec spec, Handlers handlers)
    : handlers_(std::move(handlers)), patience_(loop, [this] { end(); }) {
  base::FdPair line = base::make_pipe();
  base::set_nonblocking(line.first.get());
  spec.descriptors.emplace_back(line.second.get(), kPlaceDescriptor);
  proc::Child child = proc::start_helper(loop.context(), spec);
  pid_ = child.pid;
  line_ = std::make_unique<io::FdWatch>(loop, std::move(line.first), [this] { on_word(); });
  death_ = std::make_unique<io::FdWatch>(loop, std::move(child.pidfd), [this] { on_death(); });
}

void RunProcess::on_word() {
  char word = 0;
  const ssize_t got = ::read(line_->fd(), &word, 1);
  if (got < 0 && errno == EAGAIN) return;
  line_.reset();
  if (got == 1) handlers_.on_over();
}

// The pid is ours until it is reaped here, so it cannot belong to another process.
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
      signal(SIGCONT);  // it may be stopped
      break;
    case kKillCoordinator: kill_coordinator(); break;
    default: ::kill(-pid_, SIGKILL); break;
  }
  if (urgency_ < kKillAll) ++urgency_;
  patience_.set_after(kPatience);
}

// The guard then ends what the coordinator has started, and removes its files.
void RunProcess::kill_coordinator() {
  for (const pid_t child : proc::children_of(pid_)) ::kill(child, SIGKILL);
}

void RunProcess::on_death() {
  const auto status = proc::try_reap(pid_);
  if (!status) return;
  pid_ = 0;
  patience_.cancel();
  line_.reset();
  death_.reset();
  const auto on_ended = std::exchange(handlers_.on_ended, {});
  on_ended(*status);
}

}  // namespace distrun::daemon

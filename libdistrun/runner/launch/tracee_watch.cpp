#include <distrun/runner/launch/tracee_watch.hpp>

#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/proc/tracees.hpp>

namespace distrun::launch {

TraceeWatch::TraceeWatch(io::Loop& loop) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  base::Fd descriptor(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor) base::throw_errno("cannot watch child processes", errno);
  ::pthread_sigmask(SIG_BLOCK, &child, &before_);
  signals_ = std::make_unique<io::FdWatch>(loop, std::move(descriptor), [this] {
    std::array<signalfd_siginfo, 8> told;  // their number does not matter: all tracees are checked
    while (::read(signals_->fd(), told.data(), sizeof told) > 0) {
    }
    proc::let_stopped_tracees_go();
  });
}

TraceeWatch::~TraceeWatch() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace distrun::launch

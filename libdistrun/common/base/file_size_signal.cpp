#include <distrun/common/base/file_size_signal.hpp>

#include <cerrno>
#include <ctime>

namespace distrun::base {
namespace {

sigset_t file_size_signal() noexcept {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGXFSZ);
  return signals;
}

}  // namespace

NoFileSizeSignal::NoFileSizeSignal() noexcept {
  const sigset_t signals = file_size_signal();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  was_blocked_ = sigismember(&before, SIGXFSZ) == 1;
}

// Consumes a signal that became pending meanwhile, before it is delivered. If the thread had blocked the signal before,
// it stays pending.
NoFileSizeSignal::~NoFileSizeSignal() {
  if (was_blocked_) return;
  const int number = errno;
  const sigset_t signals = file_size_signal();
  constexpr timespec kAtOnce{};
  while (::sigtimedwait(&signals, nullptr, &kAtOnce) < 0 && errno == EINTR) {
  }
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  errno = number;
}

}  // namespace distrun::base

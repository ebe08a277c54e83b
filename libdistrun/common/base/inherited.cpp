#include <distrun/common/base/inherited.hpp>

#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include <distrun/common/base/fd.hpp>

namespace distrun::base {
namespace {

constexpr std::array<int, 6> kIgnoredOnPurpose{SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU};

bool is_meant(int signal) {
  return std::find(kIgnoredOnPurpose.begin(), kIgnoredOnPurpose.end(), signal) != kIgnoredOnPurpose.end();
}

// The kernel's structure. The C library neither returns nor changes the action of the two signals that it reserves, and
// these are inherited like the others.
struct Action {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};

bool is_ignored_by_kernel(int signal) {
  Action action{};
  return ::syscall(SYS_rt_sigaction, signal, nullptr, &action, sizeof action.mask) == 0 && action.handler == SIG_IGN;
}

// Resets ignored signals only: a handler that is already installed was not inherited (a sanitizer may have set it).
void mend_signals() {
  const Action usual{};
  for (int signal = 1; signal < NSIG; ++signal) {
    if (is_meant(signal) || !is_ignored_by_kernel(signal)) continue;
    ::syscall(SYS_rt_sigaction, signal, &usual, nullptr, sizeof usual.mask);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void mend_file_mask() {
  const mode_t mask = ::umask(S_IRWXG | S_IRWXO);
  ::umask(mask & ~static_cast<mode_t>(S_IRWXU));
}

}  // namespace

bool is_ignored(int signal) noexcept {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void mend_inherited_state() {
  open_standard_descriptors();
  mend_signals();
  mend_file_mask();
}

}  // namespace distrun::base

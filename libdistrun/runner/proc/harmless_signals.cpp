#include <distrun/runner/proc/harmless_signals.hpp>

#include <initializer_list>

namespace distrun::proc {
namespace {

void ignore_unless_handled(int signal) {
  struct sigaction action {};
  if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) return;
  action.sa_handler = SIG_IGN;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void ignore_harmless_signals() {
  for (const int signal : {SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT, SIGPIPE, SIGXFSZ}) {
    ignore_unless_handled(signal);
  }
  for (const int signal : kUserSignals) ignore_unless_handled(signal);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) ignore_unless_handled(signal);
}

}  // namespace distrun::proc

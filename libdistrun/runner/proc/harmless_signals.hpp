#pragma once
// Signals that ask distrun for nothing, but would end it by their default action. Batch systems send some of them as a
// warning; users send them to the programs that they expect to run under this name.
#include <csignal>

namespace distrun::proc {

// Signals for the programs of `distrun exec`. A process that can forward them handles them; all others ignore them.
inline constexpr int kUserSignals[] = {SIGUSR1, SIGUSR2};

// Ignores these and similar signals: alarms and timers, SIGIO, SIGPWR, SIGPIPE, SIGXFSZ, real-time signals. Keeps
// installed handlers. Started programs must not inherit this (proc/child.hpp ensures it).
void ignore_harmless_signals();

}  // namespace distrun::proc

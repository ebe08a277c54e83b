#pragma once
// Signals that ask distrun for nothing, and whose default action would end it. Batch systems send some of them as a
// warning, users send them to the programs that they believe to run under this name.
#include <csignal>

namespace distrun::proc {

// Those that are for the programs of `distrun exec`. Whoever can pass them on takes them; all others ignore them.
inline constexpr int kUserSignals[] = {SIGUSR1, SIGUSR2};

// Ignores them and their like: alarms and timers, SIGIO, SIGPWR, SIGPIPE, SIGXFSZ, those of real time. What has a
// handler keeps it. Programs that this process starts must not inherit it (proc/child.hpp takes care of that).
void ignore_harmless_signals();

}  // namespace distrun::proc

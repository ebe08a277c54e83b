#pragma once
// What the daemon gives a distrun that it starts, beside what the client sent: the run's id, and the directory to start
// in as a descriptor. The child enters it itself: where that blocks, on a file server that is gone say, it must not be
// the daemon that waits.
#include <string>

namespace distrun::daemon {

inline constexpr char kOwnRunVariable[] = "DISTRUN_DAEMON_RUN";
inline constexpr int kDirectoryDescriptor = 3;
inline constexpr int kRunIdDigits = 12;

// The id of the daemon's run that this process is; empty if no daemon started it. Enters the directory, and takes the
// variable out of the environment, so that no distrun that a test starts believes the same. First in main. Throws
// Error{Failed} if the directory cannot be entered.
std::string enter_own_run();

}  // namespace distrun::daemon

#pragma once
// What the daemon gives a distrun that it starts, beside what the client sent: the run's id; the directory to start in
// as a descriptor, which the child enters itself, since that may block, on a file server that is gone say; and a line
// on which it says that its tests are over, so that a reader of its output who takes his time holds up no other run.
#include <optional>
#include <string>

#include <distrun/common/base/fd.hpp>

namespace distrun::daemon {

inline constexpr char kOwnRunVariable[] = "DISTRUN_DAEMON_RUN";
inline constexpr int kDirectoryDescriptor = 3;
inline constexpr int kPlaceDescriptor = 4;
inline constexpr int kRunIdDigits = 12;

struct OwnRun {
  std::string id;
  base::Fd place;  // among those that run at once

  // Another run may start: this one has no process left but its own.
  void give_place_back();
};

// The daemon's run that this process is; nothing if no daemon started it. Enters the directory, and takes the variable
// out of the environment, so that no distrun that a test starts believes the same. First in main. Throws Error{Failed}
// if the directory cannot be entered.
std::optional<OwnRun> enter_own_run();

}  // namespace distrun::daemon

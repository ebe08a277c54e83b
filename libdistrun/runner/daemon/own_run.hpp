#pragma once
// The things that the daemon passes to a distrun that it starts, besides what the client sent: the run's id; the start
// directory as a descriptor, which the child enters itself, since that may block (an unreachable file server, say); and
// a line on which it reports that its tests are over, so that a slow reader of its output delays no other run.
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
  base::Fd place;  // its slot among the parallel runs

  // Releases the slot, so that another run may start: only this process is left of the run.
  void give_place_back();
};

// Returns the daemon's run that this process is, or nothing if no daemon started it. Enters the directory, and removes
// the variable from the environment, so that a distrun started by a test does not believe the same. Call first in main.
// Throws Error{Failed} if the directory cannot be entered.
std::optional<OwnRun> enter_own_run();

}  // namespace distrun::daemon

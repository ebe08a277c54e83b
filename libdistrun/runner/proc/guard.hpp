#pragma once
// The guard: the process that the user started. It forks the coordinator, forwards signals to it, and when the
// coordinator dies for any reason, ends every process of the run and removes its files. The coordinator in turn watches
// the guard and ends the run if the guard dies.
//
// Stopping the whole run, as by Ctrl-Z, stops both processes. If only one of them is stopped, from outside, nothing
// could end the run: after a moment the other one reports this and continues it.
//
// The guard waits for a coordinator that is held by a debugger until a signal asks the run to end. From then on the
// wait is bounded, since the coordinator may be unable to react: at the bound the guard kills it and ends the run.
#include <functional>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/runner/proc/run_files.hpp>
#include <distrun/runner/proc/work_note.hpp>

namespace distrun::proc {

// Returns true for signals that ask a run to end politely: SIGINT, SIGTERM, SIGHUP.
bool is_interruption(int signal) noexcept;

// How long one process may be stopped while the other one runs. Ctrl-Z needs some milliseconds to stop both.
inline constexpr base::Nanoseconds kAloneMax = std::chrono::seconds(2);

struct Coordinator {
  base::Fd guard;            // readable once the guard is dead
  WorkNote* note = nullptr;  // the running tests, reported by the guard if this process dies; owned by run_guarded()
};

// Limits for a coordinator that was asked to end. To end ranks and write reports takes six seconds at worst.
struct GuardBounds {
  base::Nanoseconds end = std::chrono::seconds(15);   // plus the grace periods of its ranks, if the user has set them
  base::Nanoseconds hurry = std::chrono::seconds(5);  // after it was asked again
  base::Nanoseconds stop = kAloneMax;                 // how long it may be stopped while its guard runs
};

// Continues the guard if it is stopped, and says so on stderr. Called by a running coordinator that has seen the guard
// stopped for kAloneMax, and before the coordinator ends: a stopped guard would never report its end.
void continue_guard();

// Forks. `coordinator` runs in the child and returns its exit code; the guard returns that code to its caller. It
// returns 130 if an interrupting signal arrived before the coordinator handled signals, or, after a sentence on stderr,
// if the coordinator did not react to one; 3 after a sentence on stderr if the coordinator was killed otherwise. Call
// before any thread exists. Does not touch children that this process already has.
int run_guarded(const RunPlaces& places, const std::function<int(Coordinator)>& coordinator,
                const GuardBounds& bounds = {});

}  // namespace distrun::proc

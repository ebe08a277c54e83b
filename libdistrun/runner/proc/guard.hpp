#pragma once
// The guard: the process that the user started. It forks the coordinator, forwards signals to it, and
// when the coordinator dies, whatever killed it, ends every process of the run and removes its files. The
// coordinator watches the guard in turn and ends the run if the guard dies.
//
// A stop of the whole run, as by Ctrl-Z, stops both. If only one of them is stopped, from outside, nobody would end the
// run: the other one says so after a moment and continues it.
//
// A coordinator that is held by a debugger is waited for, as long as nobody asks it to end. From then on it has a
// bound, since it may be past hearing: it is killed at that, and the guard ends the run.
#include <functional>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/runner/proc/run_files.hpp>
#include <distrun/runner/proc/work_note.hpp>

namespace distrun::proc {

// Whether a signal asks a run to end politely: SIGINT, SIGTERM, SIGHUP.
bool is_interruption(int signal) noexcept;

// How long one of the two may be stopped while the other one runs. Ctrl-Z needs some milliseconds to stop both.
inline constexpr base::Nanoseconds kAloneMax = std::chrono::seconds(2);

struct Coordinator {
  base::Fd guard;            // readable once the guard is dead
  WorkNote* note = nullptr;  // which tests run, for the guard to tell if this process dies; lives as long as it
};

// How long a coordinator may take that was asked to end. Ending ranks, telling of them and writing reports takes it
// some six seconds at the worst.
struct GuardBounds {
  base::Nanoseconds end = std::chrono::seconds(15);   // and the graces of its ranks, where these are the user's
  base::Nanoseconds hurry = std::chrono::seconds(5);  // after it was asked again
  base::Nanoseconds stop = kAloneMax;                 // how long it may be stopped while its guard runs
};

// Continues the guard, if that is stopped, and says so on stderr. For a coordinator that has seen it stopped for
// kAloneMax while it runs itself, and before it ends: a stopped guard would never tell of its end.
void continue_guard();

// Forks. `coordinator` runs in the child, whose exit code it returns; the guard returns that code to its caller; 130 if
// a signal that interrupts came before the coordinator listened, or after a sentence on stderr if it was past hearing
// one; or 3 after a sentence on stderr if it was killed otherwise. Call before any thread exists. Children that this
// process has already are not touched.
int run_guarded(const RunPlaces& places, const std::function<int(Coordinator)>& coordinator,
                const GuardBounds& bounds = {});

}  // namespace distrun::proc
